// Gradients of small programs against central differences, in float64; on any number of ranks.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "distributed/api.h"
#include "phi/tensor_api.h"

namespace phi::testing {

using Program = std::function<Tensor(const Tensor& x)>;

/// The one element of `y`, wherever it lies; every rank of its job asks.
inline double number_of(const Tensor& y) {
  return (y.is_dist() ? distributed::unshard_dtensor(y) : y).item();
}

/// d f(x) / dx for a plain leaf of these values, which every rank has.
inline void expect_finite_differences(const Program& f, const std::vector<double>& values,
                                      const Dims& shape) {
  Tensor leaf = from_vector(values, shape);
  leaf.set_requires_grad();
  f(leaf).backward();
  const std::vector<double> gradient = leaf.grad().to_vector<double>();
  const NoGrad no_grad;
  for (size_t i = 0; i < values.size(); ++i) {
    constexpr double kStep = 1e-5;
    std::vector<double> above = values, below = values;
    above[i] += kStep;
    below[i] -= kStep;
    const double difference =
        (number_of(f(from_vector(above, shape))) - number_of(f(from_vector(below, shape)))) /
        (2 * kStep);
    EXPECT_NEAR(gradient[i], difference, 1e-6) << "element " << i;
  }
}

}  // namespace phi::testing
