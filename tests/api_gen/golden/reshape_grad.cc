// Generated for op reshape_grad of backward.yaml. Do not edit; change the YAML and build.
Tensor reshape_grad(const Tensor& x, const Tensor& out_grad) {
  return reshape(out_grad, x.shape());
}
