// Generated for op check_finite_ of ops.yaml. Do not edit; change the YAML and build.
std::tuple<std::vector<Tensor>&, Tensor> check_finite_(std::vector<Tensor>& x,
                                                       const Tensor& scale) {
  const Call call(ops::check_finite_, attrs(), x, scale);
  check_not_tracked(x);
  Tensor found;
  if (call.is_dense()) {
    const auto [out_meta, found_meta] = CheckFiniteInferMeta(list_metas(x), scale.meta());
    check_inplace(x, out_meta);
    found = new_tensor(found_meta, place_of(x, scale));
    launch<kernels::check_finite>(ops::check_finite_, dtype_of(x), list_dense(x), scale.dense(),
                                  dense_outs(x), dense_out(found));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, dtype_of(x));
    check_inplace(x, decision, 0);
    TensorList out = new_distributed_list(decision, 0);
    found = new_distributed(decision, decision.first_slot(1));
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      reuse_buffer(out, local.list(0));
      launch<kernels::check_finite>(ops::check_finite_, decision, dtype_of(x), local.list(0),
                                    local[1], local_outs(decision, out),
                                    local_out(decision, found));
    }
    assign_inplace(x, out);
  }
  call.set_outputs(x, found);
  return {x, found};
}
