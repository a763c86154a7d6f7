// Generated from ops.yaml:62. Do not edit; change the YAML and build.
std::tuple<Tensor&, Tensor&> momentum_(Tensor& param, const Tensor& grad, Tensor& velocity,
                                       float mu) {
  const OpScope scope("momentum_");
  if (!any_distributed(param, grad, velocity)) {
    const auto [param_out_meta, velocity_out_meta] = MomentumInferMeta(param.meta(), grad.meta(),
                                                                       velocity.meta());
    check_inplace(param, param_out_meta);
    check_inplace(velocity, velocity_out_meta);
    launch<kernels::momentum>(ops::momentum_, param.dtype(), param.dense(), grad.dense(),
                              velocity.dense(), mu, dense_out(param), dense_out(velocity));
  } else {
    const DistArgs args = on_one_mesh(ops::momentum_, param, grad, velocity);
    const Decision& decision = decide(ops::momentum_, args, attr_key(), [&] {
      const auto rule = distributed::Factors()
                            .input(args.spec(0), "1")
                            .input(args.spec(1), "1")
                            .input(args.spec(2), "1")
                            .output("1")
                            .output("1");
      return Inferred{rule.forward(),
                      metas(MomentumInferMeta(args.meta(0), args.meta(1), args.meta(2)))};
    });
    check_inplace(param, decision.output(0).global);
    check_inplace(velocity, decision.output(1).global);
    Tensor param_out = new_distributed(decision, 0);
    Tensor velocity_out = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(param_out, local[0]);
      reuse_buffer(velocity_out, local[2]);
      launch<kernels::momentum>(ops::momentum_, decision, param.dtype(), local[0], local[1],
                                local[2], mu, local_out(param_out), local_out(velocity_out));
    }
    param.assign_inplace(param_out);
    velocity.assign_inplace(velocity_out);
  }
  return {param, velocity};
}
