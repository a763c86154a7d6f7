// Generated for op batch_norm of ops.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& x, const Tensor& mean,
                                              const std::vector<Tensor>& more,
                                              const std::optional<Tensor>& variance, float momentum,
                                              const std::optional<int>& seed) {
  auto [out, mean_out, variance_out, saved] =
      intermediate::batch_norm(x, mean, more, variance, momentum, seed);
  return {out, mean_out, variance_out};
}
