// Instantiations of activation gradient kernels: op, functor, dtypes, attribute types.
#pragma once

#include "phi/generated/kernels/activation.h"
#include "phi/kernels/functors/elementwise/activation_grad.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {

PHI_UNARY_GRAD_KERNEL(celu_grad, CeluGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(elu_grad, EluGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(hardsigmoid_grad, HardsigmoidGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(hardswish_grad, HardswishGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(hardtanh_grad, HardTanhGradFunctor, Floats, float, float);
PHI_UNARY_GRAD_KERNEL(leaky_relu_grad, LeakyReluGradFunctor, Floats, double);
PHI_UNARY_GRAD_KERNEL(logsigmoid_grad, LogsigmoidGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(mish_grad, MishGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(relu6_grad, Relu6GradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(selu_grad, SeluGradFunctor, Floats, float, float);
PHI_UNARY_GRAD_KERNEL(shrink_grad, ShrinkGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(softplus_grad, SoftplusGradFunctor, Floats, double, double);
PHI_UNARY_GRAD_KERNEL(softsign_grad, SoftsignGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(stanh_grad, StanhGradFunctor, Floats, float, float);
PHI_UNARY_GRAD_KERNEL(tanh_shrink_grad, TanhShrinkGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(thresholded_relu_grad, ThresholdedReluGradFunctor, Floats, float);

}  // namespace phi
