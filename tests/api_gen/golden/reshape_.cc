// Generated from ops.yaml:47. Do not edit; change the YAML and build.
Tensor& reshape_(Tensor& x, const IntArray& shape) {
  const OpScope scope("reshape_");
  const CapturedCall captured(ops::reshape, x);
  const bool recorded = any_requires_grad(x);
  if (recorded) check_inplace_recorded(x, /*needs_value=*/false);
  const Tensor before = recorded ? without_bytes(x) : Tensor();
  if (!any_distributed(x)) {
    const auto meta = ReshapeInferMeta(x.meta(), shape);
    replace(x, view_of(ops::reshape, x, meta));
  } else {
    const DistArgs args = on_one_mesh(ops::reshape, x);
    CallKey key = attr_key(shape);
    const Decision& decision = decide(ops::reshape, args, key, [&] {
      auto outputs = metas(ReshapeInferMeta(args.meta(0), shape));
      const auto rule = ReshapeInferSpmd(args.spec(0), shape);
      return Inferred{rule.forward(), std::move(outputs)};
    });
    Tensor out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_buffer(ops::reshape, out, local[0]);
    } else {
      share_placeholder(decision, out, x);
    }
    replace(x, out);
  }
  if (captured) {
    captured.gives(attributes("shape", shape), x);
  }
  if (recorded) {
    record(new ReshapeGradNode(before), x);
  }
  return x;
}
