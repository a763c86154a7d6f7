// Generated from ops.yaml:2. Do not edit; change the YAML and build.
Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y) {
  const OpScope scope("matmul");
  const CapturedCall captured(ops::matmul, x, y);
  Tensor out;
  if (!any_distributed(x, y)) {
    const auto meta = MatmulInferMeta(x.meta(), y.meta(), transpose_x, transpose_y);
    out = new_tensor(meta, place_of(x, y));
    launch<kernels::matmul>(ops::matmul, x.dtype(), x.dense(), y.dense(), transpose_x, transpose_y,
                            dense_out(out));
  } else {
    const DistArgs args = on_one_mesh(ops::matmul, x, y);
    CallKey key = attr_key(transpose_x, transpose_y);
    const Decision& decision = decide(ops::matmul, args, key, [&] {
      auto outputs = metas(MatmulInferMeta(args.meta(0), args.meta(1), transpose_x, transpose_y));
      const auto rule = MatmulInferSpmd(args.spec(0), args.spec(1), transpose_x, transpose_y);
      return Inferred{rule.forward(), std::move(outputs)};
    });
    out = new_distributed(decision, 0);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      launch<kernels::matmul>(ops::matmul, decision, x.dtype(), local[0], local[1], transpose_x,
                              transpose_y, local_out(out));
    }
  }
  if (captured) {
    captured.gives(attributes("transpose_x", transpose_x, "transpose_y", transpose_y), out);
  }
  if (any_requires_grad(x, y)) {
    record(new MatmulGradNode(x, y, transpose_x, transpose_y), out);
  }
  return out;
}
