// Generated for op scale_all_grad of backward.yaml. Do not edit; change the YAML and build.
std::vector<Tensor> scale_all_grad(const std::vector<Tensor>& out_grad, float factor) {
  return scale_all(out_grad, factor);
}
