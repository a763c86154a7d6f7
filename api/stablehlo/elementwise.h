// Formulas that elementwise operators share with their gradients; x has a wide element type.
#pragma once

#include "api/stablehlo/builder.h"

namespace phi::stablehlo {

/// u with gelu(x) = x sigmoid(u) in the tanh approximation (arXiv 1606.08415).
Ssa gelu_tanh_argument(Builder& b, const Ssa& x);
/// Phi(x) of the standard normal distribution.
Ssa normal_cdf(Builder& b, const Ssa& x);
/// The gradient of x in x sigmoid(x), for the output gradient g.
Ssa silu_grad_of(Builder& b, const Ssa& x, const Ssa& g);

}  // namespace phi::stablehlo
