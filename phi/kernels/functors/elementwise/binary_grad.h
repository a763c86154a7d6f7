// Gradients of functions of two numbers: `dx` and `dy` return the gradients of x and y for the
// gradient g of the result. T is a compute type (compute_t).
#pragma once

#include <cmath>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/power.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// If x and y are equal, or one is NaN, each has half of the gradient.
template <typename T>
struct MinimumGradFunctor {
  PHI_HD T dx(T x, T y, T g) const { return x < y ? g : x > y ? T(0) : g * T(0.5); }
  PHI_HD T dy(T x, T y, T g) const { return dx(y, x, g); }
};

/// The argument that is the result has all of the gradient; x if both are equal.
template <typename T>
struct FMaxGradFunctor {
  PHI_HD T dx(T x, T y, T g) const { return x >= y || y != y ? g : T(0); }
  PHI_HD T dy(T x, T y, T g) const { return x >= y || y != y ? T(0) : g; }
};

template <typename T>
struct FMinGradFunctor {
  PHI_HD T dx(T x, T y, T g) const { return x <= y || y != y ? g : T(0); }
  PHI_HD T dy(T x, T y, T g) const { return x <= y || y != y ? T(0) : g; }
};

/// x^0 does not depend on x, and 0^y does not depend on a non-negative y.
template <typename T>
struct ElementwisePowGradFunctor {
  PHI_HD T dx(T x, T y, T g) const {
    return y == T(0) ? T(0) : fast::scaled_pow(static_cast<double>(g) * y, x, y - T(1));
  }
  PHI_HD T dy(T x, T y, T g) const {
    return x == T(0) && y >= T(0) ? T(0) : g * fast::log(x) * fast::pow(x, y);
  }
};

template <typename T>
struct RemainderGradFunctor {
  PHI_HD T dx(T, T, T g) const { return g; }
  PHI_HD T dy(T x, T y, T g) const { return -g * std::floor(x / y); }
};

template <typename T>
struct Atan2GradFunctor {
  PHI_HD T dx(T x, T y, T g) const { return g * y / (x * x + y * y); }
  PHI_HD T dy(T x, T y, T g) const { return -g * x / (x * x + y * y); }
};

/// The factor (1 or -1) between x and the result; 0 for x = 0.
template <typename T>
struct CopySignGradFunctor {
  PHI_HD T dx(T x, T y, T g) const {
    if (x == T(0)) return T(0);
    return std::signbit(x) == std::signbit(y) ? g : -g;
  }
  PHI_HD T dy(T, T, T) const { return T(0); }
};

template <typename T>
struct HeavisideGradFunctor {
  PHI_HD T dx(T, T, T) const { return T(0); }
  PHI_HD T dy(T x, T, T g) const { return x == T(0) ? g : T(0); }
};

}  // namespace phi
