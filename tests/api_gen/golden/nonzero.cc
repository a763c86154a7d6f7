// Generated from ops.yaml:40. Do not edit; change the YAML and build.
Tensor nonzero(const Tensor& condition) {
  const OpScope scope("nonzero");
  const CapturedCall captured(ops::nonzero, condition);
  Tensor out;
  if (!any_distributed(condition)) {
    const auto meta = NonZeroInferMeta(condition.meta());
    out = new_tensor_unshaped(meta, place_of(condition));
    launch<kernels::nonzero>(ops::nonzero, condition.dtype(), condition.dense(), dense_out(out));
  } else {
    const DistArgs args = on_one_mesh(ops::nonzero, condition);
    CallKey key = attr_key();
    const Decision& decision = decide(ops::nonzero, args, key, [&] {
      auto outputs = metas(NonZeroInferMeta(args.meta(0)));
      const auto rule = NonZeroInferSpmd(args.spec(0));
      return Inferred{rule.forward(), std::move(outputs)};
    });
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::nonzero>(ops::nonzero, decision, condition.dtype(), local[0], local_out(out));
    }
    settle_shapes(decision, out);
  }
  if (captured) {
    captured.gives(attributes(), out);
  }
  return out;
}
