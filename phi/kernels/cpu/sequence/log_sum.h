// Sums of probabilities as logarithms, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace phi {

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Returns log(exp(a) + exp(b)).
inline double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return most == kImpossible ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace phi
