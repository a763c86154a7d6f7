// Kernels of one input against functions of double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {

using Oracle = double (*)(double);

// Relative error of the float kernel where the result is a normal float; one subnormal step below.
template <typename Kernel>
inline void expect_relative(Kernel kernel, Oracle oracle, double low, double high, double limit,
                            const char* name) {
  constexpr int kCount = 40001;
  std::vector<float> xs(kCount);
  for (int i = 0; i < kCount; ++i) {
    xs[i] = static_cast<float>(low + (high - low) * i / (kCount - 1));
  }
  const DenseTensor x = DenseTensor::from<float>(xs, {kCount});
  DenseTensor out = blank<float>({kCount});
  kernel(KernelContext(), x, &out);
  double worst = 0;
  float worst_at = 0;
  for (int i = 0; i < kCount; ++i) {
    const double expected = oracle(xs[i]);
    const double got = out.values<float>()[i];
    if (got == expected || (std::isinf(got) && std::abs(expected) > 3.4028235e38)) continue;
    const double step = std::max(std::abs(expected), double{std::numeric_limits<float>::min()});
    const double error = std::abs(got - expected) / step;
    if (!(error <= worst)) {
      worst = error;
      worst_at = xs[i];
    }
  }
  EXPECT_LE(worst, limit) << name << "(" << worst_at << ")";
}

}  // namespace phi::testing
