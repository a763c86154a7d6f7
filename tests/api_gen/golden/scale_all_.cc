// Generated for op scale_all of ops.yaml. Do not edit; change the YAML and build.
std::vector<Tensor>& scale_all_(std::vector<Tensor>& xs, float factor) {
  const Call call(as(ops::scale_all, "scale_all_"), attrs(factor), xs);
  const bool tracked = any_requires_grad(xs);
  if (tracked) check_inplace_tracked(xs, /*needs_value=*/false);
  if (call.is_dense()) {
    const auto meta = UnchangedListInferMeta(list_metas(xs));
    check_inplace(xs, meta);
    launch<kernels::scale_all>(ops::scale_all, dtype_of(xs), list_dense(xs), factor,
                               dense_outs(xs));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, dtype_of(xs));
    check_inplace(xs, decision, 0);
    TensorList out = new_distributed_list(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(out, local.list(0));
      launch<kernels::scale_all>(ops::scale_all, decision, dtype_of(xs), local.list(0), factor,
                                 local_outs(decision, out));
    }
    assign_inplace(xs, out);
  }
  call.set_outputs(xs);
  if (tracked) track_written(new ScaleAllGradNode(factor, xs), xs);
  return xs;
}
