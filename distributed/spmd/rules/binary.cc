// Elementwise ops with two and three inputs as factors.
#include "distributed/spmd/rules/binary.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {

SpmdRule ElementwiseBinaryGradInferSpmd(const TensorSpec& x, const TensorSpec& y,
                                        const TensorSpec& out_grad) {
  const auto all = Factors::batch(x.ndim(), y.ndim());
  Factors rule;
  rule.input(x, all, "").input(y, all, "").input(out_grad, all, "");
  return rule.output_like(0).output_like(1);
}

SpmdRule ElementwiseTernaryInferSpmd(const TensorSpec& x, const TensorSpec& y,
                                     const TensorSpec& z) {
  const auto all = Factors::batch(x.ndim(), y.ndim(), z.ndim());
  Factors rule;
  return rule.input(x, all, "").input(y, all, "").input(z, all, "").output(all, "");
}

SpmdRule AllPairsInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  const auto names = dim_names(x.ndim());
  return Factors().input(x, names).input(y, names).output("").reduce(names, ReduceKind::kAll);
}

SpmdRule EqualAllInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  if (x.shape == y.shape) return AllPairsInferSpmd(x, y);
  const auto whole = std::string_view("111111111");
  Factors rule;
  rule.input(x, whole.substr(0, static_cast<size_t>(x.ndim())));
  return rule.input(y, whole.substr(0, static_cast<size_t>(y.ndim()))).output("");
}

}  // namespace phi::distributed
