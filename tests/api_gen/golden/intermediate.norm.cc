// Generated from ops.yaml:31. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor> norm(const Tensor& x, const std::optional<Tensor>& scale,
                                float epsilon) {
  const OpScope scope("norm");
  const CapturedCall captured(ops::norm, x, scale);
  Tensor out, mean;
  if (!any_distributed(x, scale)) {
    const auto [out_meta, mean_meta] = NormInferMeta(x.meta(), optional_meta(scale), epsilon);
    const Place place = place_of(x, scale);
    out = new_tensor(out_meta, place);
    mean = new_tensor(mean_meta, place);
    launch<kernels::norm>(ops::norm, x.dtype(), x.dense(), optional_dense(scale), epsilon,
                          dense_out(out), dense_out(mean));
  } else {
    const DistArgs args = on_one_mesh(ops::norm, x, scale);
    CallKey key = attr_key(epsilon);
    const Decision& decision = decide(ops::norm, args, key, [&] {
      auto outputs = metas(NormInferMeta(args.meta(0), args.optional_meta(1), epsilon));
      const auto rule = NormInferSpmd(args.spec(0), args.optional_spec(1), epsilon);
      return Inferred{rule.forward(), std::move(outputs)};
    });
    out = new_distributed(decision, 0);
    mean = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::norm>(ops::norm, decision, x.dtype(), local[0], local.optional(1), epsilon,
                            local_out(out), local_out(mean));
    }
  }
  if (captured) {
    captured.gives(attributes("epsilon", epsilon), out, mean);
  }
  if (any_requires_grad(x, scale)) {
    record(new NormGradNode(x, scale, mean, epsilon), out, without_grad(mean));
  }
  return {out, mean};
}
