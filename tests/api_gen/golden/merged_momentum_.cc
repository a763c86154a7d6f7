// Generated for op merged_momentum_ of ops.yaml. Do not edit; change the YAML and build.
std::tuple<std::vector<Tensor>&, std::vector<Tensor>&, std::vector<Tensor>&> merged_momentum_(
    std::vector<Tensor>& param, const std::vector<Tensor>& grad, std::vector<Tensor>& velocity,
    std::vector<Tensor>& master_param, float mu) {
  const Call call(ops::merged_momentum_, attrs(mu), param, grad, velocity, master_param);
  check_not_tracked(param, velocity, master_param);
  if (call.is_dense()) {
    const auto [param_out_meta, velocity_out_meta, master_param_out_meta] = MergedMomentumInferMeta(
        list_metas(param), list_metas(grad), list_metas(velocity), list_metas(master_param));
    check_inplace(param, param_out_meta);
    check_inplace(velocity, velocity_out_meta);
    check_inplace(master_param, master_param_out_meta);
    launch<kernels::merged_momentum>(ops::merged_momentum_, dtype_of(param), list_dense(param),
                                     list_dense(grad), list_dense(velocity),
                                     list_dense(master_param), mu, dense_outs(param),
                                     dense_outs(velocity), dense_outs(master_param));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, dtype_of(param));
    check_inplace(param, decision, 0);
    check_inplace(velocity, decision, 1);
    check_inplace(master_param, decision, 2);
    TensorList param_out = new_distributed_list(decision, 0);
    TensorList velocity_out = new_distributed_list(decision, 1);
    TensorList master_param_out = new_distributed_list(decision, 2);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(param_out, local.list(0));
      reuse_buffer(velocity_out, local.list(2));
      reuse_buffer(master_param_out, local.list(3));
      launch<kernels::merged_momentum>(
          ops::merged_momentum_, decision, dtype_of(param), local.list(0), local.list(1),
          local.list(2), local.list(3), mu, local_outs(decision, param_out),
          local_outs(decision, velocity_out), local_outs(decision, master_param_out));
    }
    assign_inplace(param, param_out);
    assign_inplace(velocity, velocity_out);
    assign_inplace(master_param, master_param_out);
  }
  call.set_outputs(param, velocity, master_param);
  return {param, velocity, master_param};
}
