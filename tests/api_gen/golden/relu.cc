// Generated for op relu of ops.yaml. Do not edit; change the YAML and build.
Tensor relu(const Tensor& x) {
  const Call call(ops::relu, attrs(), x);
  Tensor out;
  if (call.is_dense()) {
    const auto meta = UnchangedInferMeta(x.meta());
    out = new_tensor(meta, place_of(x));
    launch<kernels::relu>(ops::relu, x.dtype(), x.dense(), dense_out(out));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::relu>(ops::relu, decision, x.dtype(), local[0], local_out(decision, out));
    }
  }
  call.set_outputs(out);
  if (any_requires_grad(x)) track(new ReluGradNode(out, x), out);
  return out;
}
