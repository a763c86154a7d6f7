// Generated for op norm of ops.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor> norm(const Tensor& x, const std::optional<Tensor>& scale,
                                float epsilon) {
  const Call call(ops::norm, attrs(epsilon), x, scale);
  Tensor out, mean;
  if (call.is_dense()) {
    const auto [out_meta, mean_meta] = NormInferMeta(x.meta(), optional_meta(scale), epsilon);
    const Place place = place_of(x, scale);
    out = new_tensor(out_meta, place);
    mean = new_tensor(mean_meta, place);
    launch<kernels::norm>(ops::norm, x.dtype(), x.dense(), optional_dense(scale), epsilon,
                          dense_out(out), dense_out(mean));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    out = new_distributed(decision, 0);
    mean = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::norm>(ops::norm, decision, x.dtype(), local[0], local.optional(1), epsilon,
                            local_out(decision, out), local_out(decision, mean));
    }
  }
  call.set_outputs(out, mean);
  if (any_requires_grad(x, scale)) {
    track(new NormGradNode(x, scale, mean, epsilon), out, without_grad(mean));
  }
  return {out, mean};
}
