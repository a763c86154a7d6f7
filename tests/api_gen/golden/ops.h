// One OpDef per operator, and how its rule and shape function are asked.
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

namespace phi::rules::of {

extern const RuleFunctions matmul;
extern const RuleFunctions relu;
extern const RuleFunctions split;
extern const RuleFunctions concat;
extern const RuleFunctions norm;
extern const RuleFunctions nonzero;
extern const RuleFunctions reshape;
extern const RuleFunctions full;
extern const RuleFunctions momentum_;
extern const RuleFunctions bmm;
extern const RuleFunctions matmul_grad;
extern const RuleFunctions relu_grad;
extern const RuleFunctions relu_double_grad;
extern const RuleFunctions norm_grad;

}  // namespace phi::rules::of
