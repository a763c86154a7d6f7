// Generated for op nonzero of ops.yaml. Do not edit; change the YAML and build.
Tensor nonzero(const Tensor& condition) {
  const Call call(ops::nonzero, attrs(), condition);
  Tensor out;
  if (call.is_dense()) {
    const auto meta = NonZeroInferMeta(condition.meta());
    out = new_tensor_unshaped(meta, place_of(condition));
    launch<kernels::nonzero>(ops::nonzero, condition.dtype(), condition.dense(), dense_out(out));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, condition.dtype());
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::nonzero>(ops::nonzero, decision, condition.dtype(), local[0],
                               local_out(decision, out));
    }
    broadcast_dynamic_shapes(decision, out);
  }
  call.set_outputs(out);
  return out;
}
