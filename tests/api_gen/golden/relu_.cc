// Generated from ops.yaml:9. Do not edit; change the YAML and build.
Tensor& relu_(Tensor& x) {
  const OpScope scope("relu_");
  const CapturedCall captured(ops::relu, x);
  const bool recorded = any_requires_grad(x);
  if (recorded) check_inplace_recorded(x, /*needs_value=*/false);
  if (!any_distributed(x)) {
    const auto meta = UnchangedInferMeta(x.meta());
    check_inplace(x, meta);
    launch<kernels::relu>(ops::relu, x.dtype(), x.dense(), dense_out(x));
  } else {
    const DistArgs args = on_one_mesh(ops::relu, x);
    CallKey key = attr_key();
    const Decision& decision = decide(ops::relu, args, key, [&] {
      auto outputs = metas(UnchangedInferMeta(args.meta(0)));
      const auto rule = ElementwiseUnaryInferSpmd(args.spec(0));
      return Inferred{rule.forward(), std::move(outputs)};
    });
    check_inplace(x, decision.output(0).global);
    Tensor out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(out, local[0]);
      launch<kernels::relu>(ops::relu, decision, x.dtype(), local[0], local_out(out));
    }
    assign_inplace(x, out);
  }
  if (captured) {
    captured.gives(attributes(), x);
  }
  if (recorded) {
    record(new ReluGradNode(x, x), x);
  }
  return x;
}
