// Generated for op reshape of ops.yaml. Do not edit; change the YAML and build.
Tensor& reshape_(Tensor& x, const IntArray& shape) {
  const Call call(as(ops::reshape, "reshape_"), attrs(shape), x);
  const bool tracked = any_requires_grad(x);
  if (tracked) check_inplace_tracked(x, /*needs_value=*/false);
  const Tensor before = tracked ? without_bytes(x) : Tensor();
  if (call.is_dense()) {
    const auto meta = ReshapeInferMeta(x.meta(), shape);
    replace(x, view_of(ops::reshape, x, meta));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args);
    Tensor out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_buffer(ops::reshape, out, local[0]);
    } else {
      share_placeholder(decision, out, x);
    }
    replace(x, out);
  }
  call.set_outputs(x);
  if (tracked) track(new ReshapeGradNode(before), x);
  return x;
}
