// Generated for op norm_grad of backward.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor> norm_grad(const Tensor& x, const std::optional<Tensor>& scale,
                                     const Tensor& mean, const Tensor& out_grad, float epsilon,
                                     bool centered, GradMask wanted) {
  const Call call(ops::norm_grad, attrs(epsilon, centered, wanted), x, scale, mean, out_grad);
  Tensor x_grad, scale_grad;
  if (call.is_dense()) {
    const auto [x_grad_meta, scale_grad_meta] =
        GeneralBinaryGradInferMeta(x.meta(), optional_meta(scale));
    const Place place = place_of(x, scale, mean, out_grad);
    x_grad = wanted[0] ? new_tensor(x_grad_meta, place) : Tensor();
    scale_grad = wanted[1] ? new_tensor(scale_grad_meta, place) : Tensor();
    launch<kernels::norm_grad>(ops::norm_grad, x.dtype(), x.dense(), optional_dense(scale),
                               mean.dense(), out_grad.dense(), epsilon, centered, dense_out(x_grad),
                               dense_out(scale_grad));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    x_grad = new_distributed(decision, 0);
    scale_grad = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::norm_grad>(ops::norm_grad, decision, x.dtype(), local[0], local.optional(1),
                                 local[2], local[3], epsilon, centered, local_out(decision, x_grad),
                                 local_out(decision, scale_grad));
    }
  }
  call.set_outputs(x_grad, scale_grad);
  return {x_grad, scale_grad};
}
