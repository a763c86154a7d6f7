// Generated from ops.yaml:47. Do not edit; change the YAML and build.
Tensor reshape(const Tensor& x, const IntArray& shape) {
  const OpScope scope("reshape");
  const CapturedCall captured(ops::reshape, x);
  Tensor out;
  if (!any_distributed(x)) {
    const auto meta = ReshapeInferMeta(x.meta(), shape);
    out = view_of(ops::reshape, x, meta);
  } else {
    const DistArgs args = on_one_mesh(ops::reshape, x);
    CallKey key = attr_key(shape);
    const Decision& decision = decide(ops::reshape, args, key, [&] {
      auto outputs = metas(ReshapeInferMeta(args.meta(0), shape));
      const auto rule = ReshapeInferSpmd(args.spec(0), shape);
      return Inferred{rule.forward(), std::move(outputs)};
    });
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_buffer(ops::reshape, out, local[0]);
    } else {
      share_placeholder(decision, out, x);
    }
  }
  if (captured) {
    captured.gives(attributes("shape", shape), out);
  }
  if (any_requires_grad(x)) {
    record(new ReshapeGradNode(x), out);
  }
  return out;
}
