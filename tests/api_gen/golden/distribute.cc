// Generated for op distribute of ops.yaml. Do not edit; change the YAML and build.
std::tuple<std::vector<Tensor>, std::vector<Tensor>, Tensor> distribute(
    const Tensor& rois, const std::vector<Tensor>& levels, int least) {
  const Call call(ops::distribute, attrs(least), rois, levels);
  std::vector<Tensor> parts, counts;
  Tensor order;
  if (call.is_dense()) {
    const auto [parts_meta, counts_meta, order_meta] =
        DistributeInferMeta(rois.meta(), list_metas(levels), least);
    const Place place = place_of(rois, levels);
    parts = new_tensors(parts_meta, place);
    counts = new_tensors(counts_meta, place);
    order = new_tensor(order_meta, place);
    launch<kernels::distribute>(ops::distribute, rois.dtype(), rois.dense(), list_dense(levels),
                                least, dense_outs(parts), dense_outs(counts), dense_out(order));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, rois.dtype());
    parts = new_distributed_list(decision, 0);
    counts = new_distributed_list(decision, 1);
    order = new_distributed(decision, decision.first_slot(2));
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::distribute>(ops::distribute, decision, rois.dtype(), local[0], local.list(1),
                                  least, local_outs(decision, parts), local_outs(decision, counts),
                                  local_out(decision, order));
    }
  }
  call.set_outputs(parts, counts, order);
  if (any_requires_grad(rois, levels)) {
    track(new DistributeGradNode(levels, order, rois), parts, without_grad(counts), order);
  }
  return {parts, counts, order};
}
