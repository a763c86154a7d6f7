// Generated from ops.yaml:17. Do not edit; change the YAML and build.
std::vector<Tensor> split(const Tensor& x, const IntArray& sections, const Scalar& axis) {
  const OpScope scope("split");
  const CapturedCall captured(ops::split, x);
  std::vector<Tensor> out;
  if (!any_distributed(x)) {
    const auto meta = SplitInferMeta(x.meta(), sections, axis);
    out = new_tensors(meta, place_of(x));
    launch<kernels::split>(ops::split, x.dtype(), x.dense(), axis, dense_outs(out));
  } else {
    const DistArgs args = on_one_mesh(ops::split, x);
    CallKey key = attr_key(sections, axis);
    const Decision& decision = decide(ops::split, args, key, [&] {
      auto outputs = metas(SplitInferMeta(args.meta(0), sections, axis));
      const auto rule = SplitInferSpmd(args.spec(0), sections, axis);
      return Inferred{rule.forward(), std::move(outputs)};
    });
    out = new_distributed_list(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::split>(ops::split, decision, x.dtype(), local[0], axis, local_outs(out));
    }
  }
  if (captured) {
    captured.gives(attributes("sections", sections, "axis", axis), out);
  }
  if (any_requires_grad(x)) {
    record(new SplitGradNode(axis, x), out);
  }
  return out;
}
