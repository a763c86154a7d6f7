// Initialisers: moments, ranges, seeds.
#include "api/nn/initialiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

constexpr double kIn = 200;
constexpr double kOut = 300;

std::vector<float> drawn(const Initialiser& initialiser, uint64_t seed = 3) {
  return initialiser({200, 300}, DataType::FLOAT32, seed).to_vector<float>();
}

double deviation(const std::vector<float>& values) {
  double square = 0;
  for (float v : values) square += double{v} * v;
  return std::sqrt(square / static_cast<double>(values.size()));
}

TEST(Initialiser, HasTheDeviationOfItsFormula) {
  const double xavier = std::sqrt(2 / (kIn + kOut));
  const double kaiming = std::sqrt(2 / kIn);
  EXPECT_NEAR(deviation(drawn(normal(0.5))) / 0.5, 1.0, 0.02);
  EXPECT_NEAR(deviation(drawn(xavier_normal())) / xavier, 1.0, 0.02);
  EXPECT_NEAR(deviation(drawn(xavier_uniform())) / xavier, 1.0, 0.02);
  EXPECT_NEAR(deviation(drawn(kaiming_normal())) / kaiming, 1.0, 0.02);
  EXPECT_NEAR(deviation(drawn(kaiming_uniform())) / kaiming, 1.0, 0.02);
}

TEST(Initialiser, UniformStaysWithinItsBounds) {
  const auto values = drawn(uniform(-2.0, 1.0));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -2.0f);
  EXPECT_LT(*least, -1.99f);
  EXPECT_LT(*most, 1.0f);
  EXPECT_GT(*most, 0.99f);
}

TEST(Initialiser, FollowsItsSeed) {
  EXPECT_EQ(drawn(normal(1.0), 3), drawn(normal(1.0), 3));
  EXPECT_NE(drawn(normal(1.0), 3), drawn(normal(1.0), 4));
  EXPECT_NE(seed_for("up.weight", 1), seed_for("up.weight", 2));
  EXPECT_NE(seed_for("up.weight", 1), seed_for("down.weight", 1));
}

TEST(Initialiser, AFanNeedsAMatrix) {
  EXPECT_THAT([] { kaiming_normal()({4}, DataType::FLOAT32, 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "needs a matrix [in, out], got f32[4]"));
}

}  // namespace
}  // namespace phi::nn
