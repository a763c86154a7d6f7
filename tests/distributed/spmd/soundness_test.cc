// Soundness of rules whose operators have no kernel: all others are tried with their kernels
// (rules_verification_test, op_parity_test).
#include "tests/distributed/spmd/soundness.h"

#include <gtest/gtest.h>

namespace phi::distributed::soundness {
namespace {

// A position in an extent of n, made of any number.
int64_t position(double value, int64_t n) {
  return static_cast<int64_t>(std::abs(value) * 1000) % n;
}

// x [12, 4], weights and index [6, 2].
Arrays moe_combine_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    double sum = 0;
    for (int64_t k = 0; k < in[1].shape[1]; ++k) {
      sum += at(in[0], {position(at(in[2], {i[0], k}), 12), i[1]}) * at(in[1], {i[0], k});
    }
    return sum;
  })};
}

TEST(Soundness, AnyPlacementGivesTheOpsResult) {
  const Trial trial{
      "moe_combine", {{12, 4}, {6, 2}, {6, 2}}, {{6, 4}}, moe_combine_op, [](const Specs& s) {
        return MoeCombineInferSpmd(s[0], s[1], s[2]);
      }};
  EXPECT_EQ(first_mismatch(trial), "");
}

TEST(Soundness, OfAWrongRuleIsMissed) {
  const auto softmax_op = [](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
    return {make(out[0], [&](const Dims& i) {
      double sum = 0;
      for (int64_t k = 0; k < in[0].shape[1]; ++k) sum += std::exp(at(in[0], {i[0], k}));
      return std::exp(at(in[0], i)) / sum;
    })};
  };
  const Trial wrong{"softmax", {{4, 5}}, {{4, 5}}, softmax_op, [](const Specs& s) {
                      return ElementwiseUnaryInferSpmd(s[0]);
                    }};
  EXPECT_NE(first_mismatch(wrong), "");
}

}  // namespace
}  // namespace phi::distributed::soundness
