// All operators.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#include <array>

#include "phi/core/op_registry.h"

namespace phi {

namespace ops {
extern const OpDef matmul;
extern const OpDef relu;
extern const OpDef split;
extern const OpDef concat;
extern const OpDef norm;
extern const OpDef nonzero;
extern const OpDef reshape;
extern const OpDef full;
extern const OpDef momentum_;
extern const OpDef bmm;
extern const OpDef merged_momentum_;
extern const OpDef check_finite_;
extern const OpDef distribute;
extern const OpDef scale_all;
extern const OpDef batch_norm;
extern const OpDef flatten;
extern const OpDef matmul_grad;
extern const OpDef relu_grad;
extern const OpDef relu_double_grad;
extern const OpDef norm_grad;
extern const OpDef distribute_grad;
}  // namespace ops

std::span<const OpDef* const> built_in_ops() {
  static constexpr std::array<const OpDef*, 21> list = {
      &ops::matmul,
      &ops::relu,
      &ops::split,
      &ops::concat,
      &ops::norm,
      &ops::nonzero,
      &ops::reshape,
      &ops::full,
      &ops::momentum_,
      &ops::bmm,
      &ops::merged_momentum_,
      &ops::check_finite_,
      &ops::distribute,
      &ops::scale_all,
      &ops::batch_norm,
      &ops::flatten,
      &ops::matmul_grad,
      &ops::relu_grad,
      &ops::relu_double_grad,
      &ops::norm_grad,
      &ops::distribute_grad,
  };
  return list;
}

std::span<const CompatName> built_in_compat_names() { return {}; }

}  // namespace phi
