"""Small bugs, one at a time, and whether the tests notice them: see tools/mutate."""
