// Gradients of elementary functions of one input on the CPU, in a table: functor, dtypes.
#include "phi/generated/kernels/complex.h"
#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/cpu/elementwise/unary_table.h"
#include "phi/kernels/functors/unary_math_grad.h"

namespace phi {

PHI_UNARY_GRAD_KERNEL(abs_grad, AbsGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(acos_grad, AcosGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(acosh_grad, AcoshGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(asin_grad, AsinGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(asinh_grad, AsinhGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(atan_grad, AtanGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(atanh_grad, AtanhGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(clip_grad, ClipGradFunctor, Floats, const Scalar&, const Scalar&);
PHI_UNARY_GRAD_KERNEL(cosh_grad, CoshGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(erf_grad, ErfGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(expm1_grad, Expm1GradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(log10_grad, Log10GradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(log1p_grad, Log1pGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(log2_grad, Log2GradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(logit_grad, LogitGradFunctor, Floats, float);
PHI_UNARY_GRAD_KERNEL(reciprocal_grad, ReciprocalGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(sinh_grad, SinhGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(tan_grad, TanGradFunctor, Floats);

}  // namespace phi
