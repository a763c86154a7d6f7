// Instantiations of elementary and special functions of one input: op, functor, dtypes.
#pragma once

#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {

PHI_FLOAT_UNARY_KERNEL(acos, AcosFunctor);
PHI_FLOAT_UNARY_KERNEL(acosh, AcoshFunctor);
PHI_FLOAT_UNARY_KERNEL(asin, AsinFunctor);
PHI_FLOAT_UNARY_KERNEL(asinh, AsinhFunctor);
PHI_FLOAT_UNARY_KERNEL(atan, AtanFunctor);
PHI_FLOAT_UNARY_KERNEL(atanh, AtanhFunctor);
PHI_FLOAT_UNARY_KERNEL(cos, CosFunctor);
PHI_FLOAT_UNARY_KERNEL(cosh, CoshFunctor);
PHI_FLOAT_UNARY_KERNEL(erf, ErfFunctor);
PHI_FLOAT_UNARY_KERNEL(expm1, Expm1Functor);
PHI_FLOAT_UNARY_KERNEL(log10, Log10Functor);
PHI_FLOAT_UNARY_KERNEL(log1p, Log1pFunctor);
PHI_FLOAT_UNARY_KERNEL(log2, Log2Functor);
PHI_FLOAT_UNARY_KERNEL(reciprocal, ReciprocalFunctor);
PHI_FLOAT_UNARY_KERNEL(sin, SinFunctor);
PHI_FLOAT_UNARY_KERNEL(sinh, SinhFunctor);
PHI_FLOAT_UNARY_KERNEL(tan, TanFunctor);

}  // namespace phi
