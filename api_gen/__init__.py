"""Generator: operator YAML to C++ API, kernel signatures, op registry and reference page."""
