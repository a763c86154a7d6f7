// Generated for op scale_all of ops.yaml. Do not edit; change the YAML and build.
std::vector<Tensor> scale_all(const std::vector<Tensor>& xs, float factor) {
  const Call call(ops::scale_all, attrs(factor), xs);
  std::vector<Tensor> out;
  if (call.is_dense()) {
    const auto meta = UnchangedListInferMeta(list_metas(xs));
    out = new_tensors(meta, place_of(xs));
    launch<kernels::scale_all>(ops::scale_all, dtype_of(xs), list_dense(xs), factor,
                               dense_outs(out));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, dtype_of(xs));
    out = new_distributed_list(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::scale_all>(ops::scale_all, decision, dtype_of(xs), local.list(0), factor,
                                 local_outs(decision, out));
    }
  }
  call.set_outputs(out);
  if (any_requires_grad(xs)) track(new ScaleAllGradNode(factor, xs), out);
  return out;
}
