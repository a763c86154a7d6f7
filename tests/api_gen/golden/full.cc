// Generated for op full of ops.yaml. Do not edit; change the YAML and build.
Tensor full(const IntArray& shape, const Scalar& value, DataType dtype, const Place& place) {
  const Call call(ops::full, attrs(shape, value, dtype, place));
  const auto meta = CreateInferMeta(shape, dtype);
  Tensor out = new_tensor(meta, place_or(place, place_of()));
  launch<kernels::full>(ops::full, dtype, value, dense_out(out));
  call.set_outputs(out);
  return out;
}
