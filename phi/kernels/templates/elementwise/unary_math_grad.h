// Instantiations of gradients of elementary functions of one input: op, functor, dtypes.
#pragma once

#include "phi/common/inexact.h"
#include "phi/generated/kernels/complex.h"
#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/functors/elementwise/unary_math_grad.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {

PHI_UNARY_GRAD_KERNEL(abs_grad, AbsGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(acos_grad, AcosGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(acosh_grad, AcoshGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(asin_grad, AsinGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(asinh_grad, AsinhGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(atan_grad, AtanGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(atanh_grad, AtanhGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(clip_grad, ClipGradFunctor, Floats, const Scalar&, const Scalar&);
PHI_UNARY_GRAD_KERNEL(cosh_grad, CoshGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(erf_grad, ErfGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(expm1_grad, Expm1GradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(log10_grad, Log10GradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(log1p_grad, Log1pGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(log2_grad, Log2GradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(logit_grad, LogitGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(reciprocal_grad, ReciprocalGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(sinh_grad, SinhGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(tan_grad, TanGradFunctor, Inexact);

}  // namespace phi
