// Functions of kernel.flops in the YAML: parts of the estimated floating-point operations of a
// launch that depend on attributes or on lists of tensors. Shapes are local. A multiplication and
// an addition are two operations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phi/common/dims.h"

namespace phi {

/// How many of two gradients a kernel computes.
double Computed(const Dims& x_grad, const Dims& y_grad);

/// Mean number of keys that a query of q [b, sq, h, d] attends to in k [b, sk, hk, d]. If `causal`,
/// query i attends to the keys up to i + sk - sq.
double VisibleKeys(const Dims& q, const Dims& k, bool causal);
/// The same for q [total_q, h, d] and k [total_k, hk, d] of n sequences, as if all had the mean
/// length: the real ones are values of the bounds [n + 1].
double VisibleKeysUnpadded(const Dims& q, const Dims& k, const Dims& q_bounds, const Dims& k_bounds,
                           bool causal);

/// The operands are multiplied in order; 0 for a single one.
double EinsumFlops(std::span<const Dims> x, const std::string& equation);
/// Each operand's gradient is the einsum of the output's gradient and the other operands.
double EinsumGradFlops(std::span<const Dims> x, const std::string& equation);

/// The chain of matrices in its cheapest order.
double MultiDotFlops(std::span<const Dims> x);

/// Levels of butterflies of a Fourier transform of x along `axes`: the sum of log2 of the extents.
/// A complex transform takes 5 operations per element and level (Cooley and Tukey's radix 2).
double FftLevels(const Dims& x, const std::vector<int64_t>& axes);
/// The same for the transform of one window [n].
double WindowLevels(const Dims& window);

}  // namespace phi
