// Elementwise ops as factors: every tensor dim is a batch factor.
#include "distributed/spmd/rules/elementwise.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

Factors unary(const TensorSpec& x) {
  return Factors().input(x, dim_names(x.ndim())).output(dim_names(x.ndim())).unit_dims_whole();
}

Factors binary(const TensorSpec& x, const TensorSpec& y) {
  const auto all = Factors::batch(x.ndim(), y.ndim());
  Factors rule;
  return rule.input(x, all, "").input(y, all, "").output(all, "");
}

// The factors of x. Without y the last dim of x holds both halves and must be whole.
FactorNames swiglu_names(const TensorSpec& x, const TensorSpec* y) {
  FactorNames names(dim_names(x.ndim()));
  if (y == nullptr && x.ndim() > 0) names[x.ndim() - 1] = '1';
  return names;
}

Factors swiglu_inputs(const TensorSpec& x, const TensorSpec* y) {
  const FactorNames names = swiglu_names(x, y);
  Factors rule;
  rule.input(x, names);
  return y == nullptr ? rule.absent_input() : rule.input(*y, names);
}

}  // namespace

SpmdRule ElementwiseUnaryInferSpmd(const TensorSpec& x) { return unary(x); }
SpmdRule AssignInferSpmd(const TensorSpec& x) { return unary(x); }
SpmdRule DropoutFwdInferSpmd(const TensorSpec& x) { return unary(x).output(dim_names(x.ndim())); }

SpmdRule ElementwiseUnaryGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad) {
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).last_input_follows().input(out_grad, names).output(names);
  return rule.unit_dims_whole();
}

SpmdRule ElementwiseBinaryInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  return binary(x, y);
}

SpmdRule MultiplyInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  return binary(x, y).pass_partial(PartialFlow::kOne, kLinearKinds);
}

SpmdRule WhereInferSpmd(const TensorSpec& condition, const TensorSpec& x, const TensorSpec& y) {
  const auto all = Factors::batch(condition.ndim(), x.ndim(), y.ndim());
  Factors rule;
  rule.input(condition, all, "").input(x, all, "").input(y, all, "").last_input_follows();
  return rule.output(all, "");
}

SpmdRule LabelSmoothInferSpmd(const TensorSpec& label, const TensorSpec* prior_dist, float) {
  if (prior_dist != nullptr) return binary(label, *prior_dist);
  const auto names = dim_names(label.ndim());
  return Factors().input(label, names).absent_input().output(names).unit_dims_whole();
}

SpmdRule LabelSmoothGradInferSpmd(const TensorSpec& out_grad, float) { return unary(out_grad); }

SpmdRule AddNInferSpmd(std::span<const TensorSpec> inputs) {
  PHI_CHECK(!inputs.empty(), errors::InvalidArgument("inputs is an empty list."));
  Factors rule;
  for (const TensorSpec& x : inputs) rule.input(x, dim_names(inputs[0].ndim()));
  return rule.output(dim_names(inputs[0].ndim())).pass_partial(PartialFlow::kEvery, kLinearKinds);
}

SpmdRule SwiGLUInferSpmd(const TensorSpec& x, const TensorSpec* y) {
  return swiglu_inputs(x, y).output(swiglu_names(x, y));
}

SpmdRule SwiGLUGradInferSpmd(const TensorSpec& x, const TensorSpec* y, const TensorSpec& out_grad) {
  Factors rule = swiglu_inputs(x, y);
  return rule.input(out_grad, swiglu_names(x, y)).output_like(0).output_like(1);
}

}  // namespace phi::distributed
