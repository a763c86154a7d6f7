// Generated for op distribute_grad of backward.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, std::vector<Tensor>> distribute_grad(const std::vector<Tensor>& levels,
                                                        const Tensor& order,
                                                        const std::vector<Tensor>& parts_grad,
                                                        const Tensor& order_grad, GradMask wanted) {
  const Call call(ops::distribute_grad, attrs(wanted), levels, order, parts_grad, order_grad);
  std::vector<Tensor> levels_grad;
  Tensor rois_grad;
  if (call.is_dense()) {
    const auto [rois_grad_meta, levels_grad_meta] = DistributeGradInferMeta(
        list_metas(levels), order.meta(), list_metas(parts_grad), order_grad.meta());
    const Place place = place_of(levels, order, parts_grad, order_grad);
    rois_grad = wanted[0] ? new_tensor(rois_grad_meta, place) : Tensor();
    levels_grad = wanted[1] ? new_tensors(levels_grad_meta, place) : std::vector<Tensor>();
    launch<kernels::distribute_grad>(ops::distribute_grad, order_grad.dtype(), list_dense(levels),
                                     order.dense(), list_dense(parts_grad), order_grad.dense(),
                                     dense_out(rois_grad), dense_outs(levels_grad));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, order_grad.dtype());
    rois_grad = new_distributed(decision, 0);
    levels_grad = new_distributed_list(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::distribute_grad>(ops::distribute_grad, decision, order_grad.dtype(),
                                       local.list(0), local[1], local.list(2), local[3],
                                       local_out(decision, rois_grad),
                                       local_outs(decision, levels_grad));
    }
  }
  call.set_outputs(rois_grad, levels_grad);
  return {rois_grad, levels_grad};
}
