// Generated from ops.yaml:24. Do not edit; change the YAML and build.
Tensor concat(const std::vector<Tensor>& x, const Scalar& axis) {
  const OpScope scope("concat");
  const CapturedCall captured(ops::concat, x);
  Tensor out;
  if (!any_distributed(x)) {
    const auto meta = ConcatInferMeta(list_metas(x), axis);
    out = new_tensor(meta, place_of(x));
    launch<kernels::concat>(ops::concat, dtype_of(x), list_dense(x), axis, dense_out(out));
  } else {
    const DistArgs args = on_one_mesh(ops::concat, x);
    CallKey key = attr_key(axis);
    const Decision& decision = decide(ops::concat, args, key, [&] {
      return Inferred{replicated(args, 1), metas(ConcatInferMeta(args.list_meta(0), axis)),
                      dtype_of(x)};
    });
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::concat>(ops::concat, decision, dtype_of(x), local.list(0), axis,
                              local_out(out));
    }
  }
  if (captured) {
    captured.gives(attributes("axis", axis), out);
  }
  if (any_requires_grad(x)) {
    record(new ConcatGradNode(x, axis), out);
  }
  return out;
}
