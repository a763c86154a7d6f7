// Generated for op relu_double_grad of backward.yaml. Do not edit; change the YAML and build.
Tensor relu_double_grad(const Tensor& out, const Tensor& grad_x_grad) {
  const Call call(ops::relu_double_grad, attrs(), out, grad_x_grad);
  Tensor grad_out_grad;
  if (call.is_dense()) {
    const auto meta = UnchangedInferMeta(out.meta());
    grad_out_grad = new_tensor(meta, place_of(out, grad_x_grad));
    launch<kernels::relu_grad>(ops::relu_double_grad, out.dtype(), out.dense(), grad_x_grad.dense(),
                               dense_out(grad_out_grad));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, out.dtype());
    grad_out_grad = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::relu_grad>(ops::relu_double_grad, decision, out.dtype(), local[0], local[1],
                                 local_out(decision, grad_out_grad));
    }
  }
  call.set_outputs(grad_out_grad);
  return grad_out_grad;
}
