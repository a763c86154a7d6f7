// Generated for op flatten of ops.yaml. Do not edit; change the YAML and build.
std::tuple<Tensor&, Tensor> flatten_(Tensor& x, int axis) {
  const Call call(as(ops::flatten, "flatten_"), attrs(axis), x);
  const bool tracked = any_requires_grad(x);
  if (tracked) check_inplace_tracked(x, /*needs_value=*/false);
  const Tensor before = tracked ? without_bytes(x) : Tensor();
  Tensor shape;
  if (call.is_dense()) {
    const auto [out_meta, shape_meta] = FlattenInferMeta(x.meta(), axis);
    Tensor out = shared_view(x, out_meta);
    shape = new_tensor(shape_meta, place_of(x));
    launch<kernels::shape_of>(ops::flatten, complex_of(x.dtype()), x.dense(), dense_out(shape));
    replace(x, out);
  } else {
    const DistArgs args = call.on_one_mesh();
    const Decision& decision = call.decide(args, complex_of(x.dtype()));
    Tensor out = new_distributed(decision, 0);
    shape = new_distributed(decision, 1);
    const LocalArgs local = reshard_inputs(args, decision);
    if (decision.computes_here()) {
      share_part(out, local[0]);
      launch<kernels::shape_of>(ops::flatten, decision, complex_of(x.dtype()), local[0],
                                local_out(decision, shape));
    } else {
      share_placeholder(decision, out, x, 0);
    }
    replace(x, out);
  }
  call.set_outputs(x, shape);
  if (tracked) track(new FlattenGradNode(before), x, without_grad(shape));
  return {x, shape};
}
