// Generated for op momentum_ of ops.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor&, Tensor&, std::optional<Tensor>&> momentum_(Tensor& param, const Tensor& grad,
                                                               Tensor& velocity,
                                                               std::optional<Tensor>& master_param,
                                                               float mu) {
  const Call call(ops::momentum_, attrs(mu), param, grad, velocity, master_param);
  check_not_tracked(param, velocity, master_param);
  if (call.is_dense()) {
    const auto [param_out_meta, velocity_out_meta, master_param_out_meta] =
        MomentumInferMeta(param.meta(), grad.meta(), velocity.meta(), optional_meta(master_param));
    check_inplace(param, param_out_meta);
    check_inplace(velocity, velocity_out_meta);
    check_inplace(master_param, master_param_out_meta);
    launch<kernels::momentum>(ops::momentum_, param.dtype(), param.dense(), grad.dense(),
                              velocity.dense(), optional_dense(master_param), mu, dense_out(param),
                              dense_out(velocity), dense_out(master_param));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, param.dtype());
    check_inplace(param, decision.output(0).global);
    check_inplace(velocity, decision.output(1).global);
    check_inplace(master_param, decision.output(2).global);
    Tensor param_out = new_distributed(decision, 0);
    Tensor velocity_out = new_distributed(decision, 1);
    Tensor master_param_out = new_distributed(decision, 2);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(param_out, local[0]);
      reuse_buffer(velocity_out, local[2]);
      reuse_buffer(master_param_out, local.optional(3));
      launch<kernels::momentum>(ops::momentum_, decision, param.dtype(), local[0], local[1],
                                local[2], local.optional(3), mu, local_out(decision, param_out),
                                local_out(decision, velocity_out),
                                local_out(decision, master_param_out));
    }
    assign_inplace(param, param_out);
    assign_inplace(velocity, velocity_out);
    assign_inplace(master_param, master_param_out);
  }
  call.set_outputs(param, velocity, master_param);
  return {param, velocity, master_param};
}
