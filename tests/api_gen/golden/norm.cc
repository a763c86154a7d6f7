// Generated for op norm of ops.yaml. Do not edit; change the YAML and build.
Tensor norm(const Tensor& x, const std::optional<Tensor>& scale, float epsilon) {
  return std::get<0>(intermediate::norm(x, scale, epsilon));
}
