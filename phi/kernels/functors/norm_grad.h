// Gradients of norms and of log-sum-exp, for one element: of x, of what its row was reduced to, and
// of the gradient of that.
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

/// 0 in a row of zeros, where there is none. `epsilon` is added to what is divided by.
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

/// Each element that is the largest, or smallest, in magnitude.
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
    // |x|^(p - 1) / (norm^(p - 1) + epsilon), whose powers may be out of range.
    const T power = fast::pow(norm, p - T(1));
    const bool counts = epsilon > T(0) && power < std::numeric_limits<T>::infinity();
    const T share = counts ? power / (power + epsilon) : T(1);
    return grad * sign_of(x) * fast::pow(std::fabs(x) / norm, p - T(1)) * share;
  }
};

/// How many elements are not 0 does not change with any of them.
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
