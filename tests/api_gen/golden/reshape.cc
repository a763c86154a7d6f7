// Generated for op reshape of ops.yaml. Do not edit; change the YAML and build.
Tensor reshape(const Tensor& x, const IntArray& shape) {
  const Call call(ops::reshape, attrs(shape), x);
  Tensor out;
  if (call.is_dense()) {
    const auto meta = ReshapeInferMeta(x.meta(), shape);
    out = view_of(ops::reshape, x, meta);
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args);
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_buffer(ops::reshape, out, local[0]);
    } else {
      share_placeholder(decision, out, x);
    }
    refuse_writes_if_moved(decision, out, x);
  }
  call.set_outputs(out);
  if (any_requires_grad(x)) track(new ReshapeGradNode(x), out);
  return out;
}
