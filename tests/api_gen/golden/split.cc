// Generated for op split of ops.yaml. Do not edit; change the YAML and build.
std::vector<Tensor> split(const Tensor& x, const IntArray& sections, const Scalar& axis) {
  const Call call(ops::split, attrs(sections, axis), x);
  std::vector<Tensor> out;
  if (call.is_dense()) {
    const auto meta = SplitInferMeta(x.meta(), sections, axis);
    if (!alias_outputs(ops::split, out, meta, x.dense(), SplitAliasOffset, axis)) {
      out = new_tensors(meta, place_of(x));
      launch<kernels::split>(ops::split, x.dtype(), x.dense(), axis, dense_outs(out));
    }
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    out = new_distributed_list(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      if (!alias_local_outputs(ops::split, out, local[0], SplitAliasOffset, axis)) {
        launch<kernels::split>(ops::split, decision, x.dtype(), local[0], axis,
                               local_outs(decision, out));
      }
    }
  }
  call.set_outputs(out);
  if (any_requires_grad(x)) track(new SplitGradNode(axis, x), out);
  return out;
}
