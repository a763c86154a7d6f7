// Generated for op bmm_grad of backward.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor> bmm_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                                    GradMask wanted) {
  return composite::bmm_grad(x, y, out_grad, wanted);
}
