"""The same calls in each library: a module per library, whose calls() are functions by name."""
