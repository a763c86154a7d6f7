// Generated for op split_grad of backward.yaml. Do not edit; change the YAML and build.
Tensor split_grad(const std::vector<Tensor>& out_grad, const Scalar& axis) {
  return concat(out_grad, axis);
}
