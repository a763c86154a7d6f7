// One OpDef per operator.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

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

}  // namespace phi::ops
