// Generated for op matmul_grad of backward.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor> matmul_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                                       bool transpose_x, bool transpose_y, GradMask wanted) {
  const Call call(ops::matmul_grad, attrs(transpose_x, transpose_y, wanted), x, y, out_grad);
  Tensor x_grad, y_grad;
  if (call.is_dense()) {
    const auto [x_grad_meta, y_grad_meta] = GeneralBinaryGradInferMeta(x.meta(), y.meta());
    const Place place = place_of(x, y, out_grad);
    x_grad = wanted[0] ? new_tensor(x_grad_meta, place) : Tensor();
    y_grad = wanted[1] ? new_tensor(y_grad_meta, place) : Tensor();
    launch<kernels::matmul_grad>(ops::matmul_grad, x.dtype(), x.dense(), y.dense(),
                                 out_grad.dense(), transpose_x, transpose_y, dense_out(x_grad),
                                 dense_out(y_grad));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    x_grad = new_distributed(decision, 0);
    y_grad = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::matmul_grad>(ops::matmul_grad, decision, x.dtype(), local[0], local[1],
                                   local[2], transpose_x, transpose_y, local_out(decision, x_grad),
                                   local_out(decision, y_grad));
    }
  }
  call.set_outputs(x_grad, y_grad);
  return {x_grad, y_grad};
}
