// All operators.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#include <array>

#include "phi/core/op_def.h"

namespace phi::ops {

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
extern const OpDef matmul_grad;
extern const OpDef relu_grad;
extern const OpDef relu_double_grad;
extern const OpDef norm_grad;

std::span<const OpDef* const> all() {
  static constexpr std::array<const OpDef*, 14> list = {
      &matmul,
      &relu,
      &split,
      &concat,
      &norm,
      &nonzero,
      &reshape,
      &full,
      &momentum_,
      &bmm,
      &matmul_grad,
      &relu_grad,
      &relu_double_grad,
      &norm_grad,
  };
  return list;
}

}  // namespace phi::ops
