// Elementwise rules: every tensor dim is a batch factor.
#include "distributed/spmd/rules/elementwise.h"

namespace phi::distributed {
namespace {

// The first n letters, one per tensor dim: as batch factors, but a dim of size 1 may be split.
std::string_view letters(int n) { return std::string_view("abcdefghi").substr(0, n); }

Factors unary(const TensorSpec& x) {
  return Factors().input(x, letters(x.ndim())).output(letters(x.ndim()));
}

Factors binary(const TensorSpec& x, const TensorSpec& y) {
  const auto all = Factors::batch(x.ndim(), y.ndim());
  return Factors().input(x, all, "").input(y, all, "").output(all, "");
}

}  // namespace

SpmdRule ElementwiseUnaryInferSpmd(const TensorSpec& x) { return unary(x); }
SpmdRule AssignInferSpmd(const TensorSpec& x) { return unary(x); }
SpmdRule DropoutFwdInferSpmd(const TensorSpec& x) { return unary(x); }

SpmdRule ElementwiseBinaryInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  return binary(x, y);
}

SpmdRule MultiplyInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  return binary(x, y).pass_partial(PartialFlow::kOne, kLinearKinds);
}

SpmdRule WhereInferSpmd(const TensorSpec& condition, const TensorSpec& x, const TensorSpec& y) {
  const auto all = Factors::batch(condition.ndim(), x.ndim(), y.ndim());
  return Factors().input(condition, all, "").input(x, all, "").input(y, all, "").output(all, "");
}

SpmdRule AddNInferSpmd(std::span<const TensorSpec> inputs) {
  PHI_CHECK(!inputs.empty(), errors::InvalidArgument("inputs is an empty list."));
  Factors rule;
  for (const TensorSpec& x : inputs) rule.input(x, letters(inputs[0].ndim()));
  return rule.output(letters(inputs[0].ndim())).pass_partial(PartialFlow::kEvery, kLinearKinds);
}

SpmdRule SwiGLUInferSpmd(const TensorSpec& x, const TensorSpec* y) {
  const auto names = letters(x.ndim());
  Factors rule;
  rule.input(x, names);
  if (y != nullptr && !y->absent()) return rule.input(*y, names).output(names);
  return rule.absent_input().output(names).whole(names.substr(names.size() - 1));
}

}  // namespace phi::distributed
