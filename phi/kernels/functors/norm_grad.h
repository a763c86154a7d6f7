// Gradients of norms and of log-sum-exp for one element, as functions of the element, the result of
// its row, and the gradient of that result.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/power.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

template <typename T>
PHI_HD T sign_of(T x) {
  if (x == T(0)) return T(0);
  return x != x ? x : std::copysign(T(1), x);
}

/// The gradient of a 2-norm: 0 in a row of zeros, where it is undefined. `epsilon` is added to the
/// divisor.
template <typename T>
struct EuclideanNormGrad {
  T epsilon = 0;
  PHI_HD T operator()(T x, T norm, T grad) const {
    return norm == T(0) ? T(0) : grad * (x / (norm + epsilon));
  }
};

template <typename T>
struct MagnitudesGrad {
  T share = 1;  // 1 / (1 + epsilon)
  PHI_HD T operator()(T x, T, T grad) const { return grad * sign_of(x) * share; }
};

/// The gradient of a norm that is the largest (or smallest) magnitude: each such element has it.
template <typename T>
struct ExtremeMagnitudeGrad {
  PHI_HD T operator()(T x, T norm, T grad) const {
    return std::fabs(x) == norm ? grad * sign_of(x) : T(0);
  }
};

template <typename T>
struct PowerNormGrad {
  T p;
  T epsilon = 0;
  PHI_HD T operator()(T x, T norm, T grad) const {
    if (x == T(0) || norm == T(0)) return T(0);
    // |x|^(p - 1) / (norm^(p - 1) + epsilon), without powers that can overflow.
    const T power = fast::pow(norm, p - T(1));
    const bool counts = epsilon > T(0) && power < std::numeric_limits<T>::infinity();
    const T share = counts ? power / (power + epsilon) : T(1);
    return grad * sign_of(x) * fast::pow(std::fabs(x) / norm, p - T(1)) * share;
  }
};

/// The gradient of the number of non-zero elements, which is 0.
template <typename T>
struct CountGrad {
  PHI_HD T operator()(T, T, T) const { return T(0); }
};

template <typename T>
struct LogSumExpGrad {
  PHI_HD T operator()(T x, T out, T grad) const {
    return x == out ? grad : grad * fast::exp(x - out);
  }
};

}  // namespace phi
