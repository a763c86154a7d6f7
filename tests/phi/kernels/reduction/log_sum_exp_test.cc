// The reducer of log-sum-exp against sums in double.
#include "phi/kernels/functors/log_sum_exp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Elements joined as a thread of a GPU joins them: 16 in a lane, lanes one after the other.
float log_sum_exp(int n, const std::function<float(int)>& x) {
  using R = LogSumExpReducer<float>;
  auto value = static_cast<R::State>(R::kIdentity);
  for (int i = 0; i < n; i += 16) {
    R::value_type lane = R::kIdentity;
    for (int k = i; k < std::min(i + 16, n); ++k) lane = R::join(lane, lift<R>(x(k)));
    value = R::carry(value, lane);
  }
  return LogOfSum<float>()(value);
}

double in_double(int n, const std::function<float(int)>& x) {
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < n; ++i) most = std::max(most, static_cast<double>(x(i)));
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x(i)) - most);
  return most + std::log(sum);
}

// The largest element is another one all the time, and hardly more than the last.
TEST(LogSumExpReducer, OfElementsThatRiseSlowly) {
  for (const float step : {0.0f, 3e-7f, 1e-6f, 3e-6f, 1e-5f, 1e-3f, 0.1f}) {
    const auto x = [&](int i) { return 1 + static_cast<float>(i) * step; };
    const double expected = in_double(100000, x);
    EXPECT_NEAR(log_sum_exp(100000, x), expected, 2e-7 * std::fabs(expected)) << step;
    const auto falling = [&](int i) { return x(100000 - i); };
    EXPECT_NEAR(log_sum_exp(100000, falling), in_double(100000, falling),
                2e-7 * std::fabs(expected))
        << step;
  }
}

TEST(LogSumExpReducer, OfNumbersThatAreNotFinite) {
  const auto of = [](std::vector<float> x) {
    return log_sum_exp(static_cast<int>(x.size()),
                       [&](int i) { return x[static_cast<size_t>(i)]; });
  };
  EXPECT_EQ(of({}), -kInf);
  EXPECT_EQ(of({-kInf, -kInf}), -kInf);
  EXPECT_EQ(of({-kInf, 3}), 3);
  EXPECT_EQ(of({1, kInf, 2, kInf}), kInf);
  EXPECT_TRUE(std::isnan(of({1, NAN, 2})));
  EXPECT_TRUE(std::isnan(of({kInf, NAN})));
  EXPECT_TRUE(std::isnan(of({NAN, kInf})));
  EXPECT_EQ(of({-3e38f, 3e38f}), 3e38f);
}

}  // namespace
}  // namespace phi
