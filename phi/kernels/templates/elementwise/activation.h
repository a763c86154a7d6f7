// Instantiations of activation kernels: op, functor, dtypes, attribute types.
#pragma once

#include "phi/generated/kernels/activation.h"
#include "phi/kernels/functors/elementwise/activation.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {

PHI_UNARY_KERNEL(celu, CeluFunctor, Floats, float);
PHI_UNARY_KERNEL(elu, EluFunctor, Floats, float);
PHI_UNARY_KERNEL(hardshrink, HardshrinkFunctor, Floats, float);
PHI_UNARY_KERNEL(hardsigmoid, HardsigmoidFunctor, Floats, float, float);
PHI_UNARY_KERNEL(hardswish, HardswishFunctor, Floats);
PHI_UNARY_KERNEL(hardtanh, ClipFunctor, Floats, float, float);
PHI_UNARY_KERNEL(leaky_relu, LeakyReluFunctor, Floats, double);
PHI_UNARY_KERNEL(logsigmoid, LogsigmoidFunctor, Floats);
PHI_UNARY_KERNEL(mish, MishFunctor, Floats, float);
PHI_UNARY_KERNEL(relu6, Relu6Functor, Floats);
PHI_UNARY_KERNEL(selu, SeluFunctor, Floats, float, float);
PHI_UNARY_KERNEL(softplus, SoftplusFunctor, Floats, double, double);
PHI_UNARY_KERNEL(softshrink, SoftshrinkFunctor, Floats, float);
PHI_UNARY_KERNEL(softsign, SoftsignFunctor, Floats);
PHI_FLOAT_UNARY_KERNEL(stanh, StanhFunctor, float, float);
PHI_UNARY_KERNEL(tanh_shrink, TanhShrinkFunctor, Floats);
PHI_UNARY_KERNEL(thresholded_relu, ThresholdedReluFunctor, Floats, float, float);

}  // namespace phi
