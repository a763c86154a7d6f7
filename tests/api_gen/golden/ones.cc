// Generated from ops.yaml:62. Do not edit; change the YAML and build.
Tensor ones(const IntArray& shape, DataType dtype, const Place& place) {
  return full(shape, 1, dtype, place);
}
