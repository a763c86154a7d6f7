// Generated for op concat_grad of backward.yaml. Do not edit; change the YAML and build.
std::vector<Tensor> concat_grad(const std::vector<Tensor>& x, const Tensor& out_grad,
                                const Scalar& axis) {
  return composite::concat_grad(x, out_grad, axis);
}
