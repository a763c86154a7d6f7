// Generated for op flatten of ops.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor, Tensor> flatten(const Tensor& x, int axis) {
  const Call call(ops::flatten, attrs(axis), x);
  Tensor out, shape;
  if (call.is_dense()) {
    const auto [out_meta, shape_meta] = FlattenInferMeta(x.meta(), axis);
    out = shared_view(x, out_meta);
    shape = new_tensor(shape_meta, place_of(x));
    launch<kernels::shape_of>(ops::flatten, complex_of(x.dtype()), x.dense(), dense_out(shape));
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, complex_of(x.dtype()));
    out = new_distributed(decision, 0);
    shape = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_part(out, local[0]);
      launch<kernels::shape_of>(ops::flatten, decision, complex_of(x.dtype()), local[0],
                                local_out(decision, shape));
    } else {
      share_placeholder(decision, out, x, 0);
    }
  }
  call.set_outputs(out, shape);
  if (any_requires_grad(x)) track(new FlattenGradNode(x), out, without_grad(shape));
  return {out, shape};
}
