// Gradients by central differences, as an oracle for gradient kernels.
#pragma once

#include <functional>

#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {

inline double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The gradient of sum(cotangent * f(x)) at x. Its error is about 1e-9 for f of order 1.
inline Values finite_differences(const Values& x, const Values& cotangent,
                                 const std::function<Values(const Values&)>& f) {
  constexpr double kStep = 1e-5;
  Values gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Values moved = x;
    moved[i] = x[i] + kStep;
    const double above = dot(cotangent, f(moved));
    moved[i] = x[i] - kStep;
    gradient[i] = (above - dot(cotangent, f(moved))) / (2 * kStep);
  }
  return gradient;
}
inline constexpr double kDifferenceError = 1e-7;

}  // namespace phi::testing
