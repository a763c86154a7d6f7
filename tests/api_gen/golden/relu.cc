// Generated from ops.yaml:9. Do not edit; change the YAML and build.
Tensor relu(const Tensor& x) {
  const OpScope scope("relu");
  const CapturedCall captured(ops::relu, x);
  Tensor out;
  if (!any_distributed(x)) {
    const auto meta = UnchangedInferMeta(x.meta());
    out = new_tensor(meta, place_of(x));
    launch<kernels::relu>(ops::relu, x.dtype(), x.dense(), dense_out(out));
  } else {
    const DistArgs args = on_one_mesh(ops::relu, x);
    CallKey key = attr_key();
    const Decision& decision = decide(ops::relu, args, key, [&] {
      auto outputs = metas(UnchangedInferMeta(args.meta(0)));
      const auto rule = ElementwiseUnaryInferSpmd(args.spec(0));
      return Inferred{rule.forward(), std::move(outputs)};
    });
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::relu>(ops::relu, decision, x.dtype(), local[0], local_out(out));
    }
  }
  if (captured) {
    captured.gives(attributes(), out);
  }
  if (any_requires_grad(x)) {
    record(new ReluGradNode(out, x), out);
  }
  return out;
}
