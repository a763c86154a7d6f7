// Generated from ops.yaml:43. Do not edit; change the YAML and build.
Tensor& reshape_(Tensor& x, const IntArray& shape) {
  const OpScope scope("reshape_");
  if (!any_distributed(x)) {
    const auto meta = ReshapeInferMeta(x.meta(), shape);
    x.replace(view_of(ops::reshape, x, meta));
  } else {
    const DistArgs args = on_one_mesh(ops::reshape, x);
    const Decision& decision = decide(ops::reshape, args, attr_key(shape), [&] {
      return Inferred{ReshapeInferSpmd(args.spec(0), shape).forward(),
                      metas(ReshapeInferMeta(args.meta(0), shape))};
    });
    Tensor out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_buffer(ops::reshape, out, local[0]);
    }
    x.replace(out);
  }
  return x;
}
