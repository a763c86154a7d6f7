// Generated for op batch_norm of ops.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm(const Tensor& x, const Tensor& mean,
                                                      const std::vector<Tensor>& more,
                                                      const std::optional<Tensor>& variance,
                                                      float momentum,
                                                      const std::optional<int>& seed) {
  const Call call(ops::batch_norm, attrs(momentum, seed), x, mean, more, variance);
  check_not_tracked(mean, variance);
  Tensor out, mean_out, variance_out, saved;
  if (call.is_dense()) {
    const auto [out_meta, mean_out_meta, variance_out_meta, saved_meta] =
        BatchNormInferMeta(x.meta(), mean.meta(), optional_meta(variance));
    const Place place = place_of(x, mean, more, variance);
    note_write(mean);
    note_write(variance);
    out = new_tensor(out_meta, place);
    mean_out = shared_view(mean, mean_out_meta);
    variance_out = shared_view(variance, variance_out_meta);
    saved = new_tensor(saved_meta, place);
    launch<kernels::batch_norm>(ops::batch_norm, x.dtype(), x.dense(), mean.dense(),
                                list_dense(more), optional_dense(variance), momentum, seed,
                                dense_out(out), dense_out(mean_out), dense_out(variance_out),
                                dense_out(saved));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    note_write(mean);
    note_write(variance);
    out = new_distributed(decision, 0);
    mean_out = new_distributed(decision, 1);
    variance_out = new_distributed(decision, 2);
    saved = new_distributed(decision, 3);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_part(mean_out, local[1]);
      share_part(variance_out, local.optional(3));
      launch<kernels::batch_norm>(ops::batch_norm, decision, x.dtype(), local[0], local[1],
                                  local.list(2), local.optional(3), momentum, seed,
                                  local_out(decision, out), local_out(decision, mean_out),
                                  local_out(decision, variance_out), local_out(decision, saved));
    } else {
      share_placeholder(decision, mean_out, mean, 1);
      share_placeholder(decision, variance_out, variance, args.range(3).first);
    }
    assign_written(mean, mean_out);
    assign_written(variance, variance_out);
  }
  call.set_outputs(out, mean_out, variance_out, saved);
  return {out, mean_out, variance_out, saved};
}
