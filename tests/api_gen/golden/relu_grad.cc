// Generated for op relu_grad of backward.yaml. Do not edit; change the YAML and build.
Tensor relu_grad(const Tensor& out, const Tensor& out_grad) {
  const Call call(ops::relu_grad, attrs(), out, out_grad);
  Tensor x_grad;
  if (call.is_dense()) {
    const auto meta = UnchangedInferMeta(out.meta());
    x_grad = new_tensor(meta, place_of(out, out_grad));
    launch<kernels::relu_grad>(ops::relu_grad, out.dtype(), out.dense(), out_grad.dense(),
                               dense_out(x_grad));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, out.dtype());
    x_grad = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::relu_grad>(ops::relu_grad, decision, out.dtype(), local[0], local[1],
                                 local_out(decision, x_grad));
    }
  }
  call.set_outputs(x_grad);
  if (any_requires_grad(out_grad)) track(new ReluDoubleGradNode(out, out_grad), x_grad);
  return x_grad;
}
