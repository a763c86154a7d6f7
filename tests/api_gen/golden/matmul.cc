// Generated for op matmul of ops.yaml. Do not edit; change the YAML and build.
Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y) {
  const Call call(ops::matmul, attrs(transpose_x, transpose_y), x, y);
  Tensor out;
  if (call.is_dense()) {
    const auto meta = MatmulInferMeta(x.meta(), y.meta(), transpose_x, transpose_y);
    out = new_tensor(meta, place_of(x, y));
    launch<kernels::matmul>(ops::matmul, x.dtype(), x.dense(), y.dense(), transpose_x, transpose_y,
                            dense_out(out));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, x.dtype());
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::matmul>(ops::matmul, decision, x.dtype(), local[0], local[1], transpose_x,
                              transpose_y, local_out(decision, out));
    }
  }
  call.set_outputs(out);
  if (any_requires_grad(x, y)) track(new MatmulGradNode(x, y, transpose_x, transpose_y), out);
  return out;
}
