// Generated for op relu of ops.yaml. Do not edit; change the YAML and build.
Tensor& relu_(Tensor& x) {
  const Call call(as(ops::relu, "relu_"), attrs(), x);
  const bool tracked = any_requires_grad(x);
  if (tracked) check_inplace_tracked(x, /*needs_value=*/false);
  if (call.is_dense()) {
    const auto meta = UnchangedInferMeta(x.meta());
    check_inplace(x, meta);
    launch<kernels::relu>(ops::relu, x.dtype(), x.dense(), dense_out(x));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    check_inplace(x, decision.output(0).global);
    Tensor out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(out, local[0]);
      launch<kernels::relu>(ops::relu, decision, x.dtype(), local[0], local_out(decision, out));
    }
    assign_inplace(x, out);
  }
  call.set_outputs(x);
  if (tracked) track_written(new ReluGradNode(x, x), x);
  return x;
}
