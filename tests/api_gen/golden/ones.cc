// Generated for op ones of ops.yaml. Do not edit; change the YAML and build.
Tensor ones(const IntArray& shape, DataType dtype, const Place& place) {
  return full(shape, 1, dtype, place);
}
