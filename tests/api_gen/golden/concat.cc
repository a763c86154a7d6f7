// Generated for op concat of ops.yaml. Do not edit; change the YAML and build.
Tensor concat(const std::vector<Tensor>& x, const Scalar& axis) {
  const Call call(ops::concat, attrs(axis), x);
  Tensor out;
  if (call.is_dense()) {
    const auto meta = ConcatInferMeta(list_metas(x), axis);
    out = new_tensor(meta, place_of(x));
    launch<kernels::concat>(ops::concat, dtype_of(x), list_dense(x), axis, dense_out(out));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, dtype_of(x));
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::concat>(ops::concat, decision, dtype_of(x), local.list(0), axis,
                              local_out(decision, out));
    }
  }
  call.set_outputs(out);
  if (any_requires_grad(x)) track(new ConcatGradNode(x, axis), out);
  return out;
}
