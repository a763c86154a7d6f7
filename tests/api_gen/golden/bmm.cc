// Generated for op bmm of ops.yaml. Do not edit; change the YAML and build.
Tensor bmm(const Tensor& x, const Tensor& y) {
  const Call call(ops::bmm, attrs(), x, y);
  Tensor out;
  if (call.is_dense()) {
    const auto meta = BmmInferMeta(x.meta(), y.meta());
    out = new_tensor(meta, place_of(x, y));
    launch<kernels::bmm>(ops::bmm, x.dtype(), x.dense(), y.dense(), dense_out(out));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::bmm>(ops::bmm, decision, x.dtype(), local[0], local[1],
                           local_out(decision, out));
    }
  }
  call.set_outputs(out);
  if (any_requires_grad(x, y)) track(new BmmGradNode(x, y), out);
  return out;
}
