// Generated for op flatten_grad of backward.yaml. Do not edit; change the YAML and build.
Tensor flatten_grad(const Tensor& x, const Tensor& out_grad) {
  return reshape(out_grad, x.shape());
}
