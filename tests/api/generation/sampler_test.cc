// What is drawn how often, what is never drawn, and what the draw depends on.
#include "api/generation/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/error_matchers.h"

namespace phi::generation {
namespace {

constexpr int kDraws = 20000;

// Probabilities 0.1, 0.4, 0.2, 0.3 at temperature 1.
const std::vector<float> kLogits = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};

std::vector<double> frequencies(const SamplerOptions& options) {
  std::vector<double> out(kLogits.size());
  for (int position = 0; position < kDraws; ++position) {
    out[static_cast<size_t>(sample(kLogits, options, position))] += 1;
  }
  for (double& count : out) count /= kDraws;
  return out;
}

struct Row {
  SamplerOptions options;
  std::vector<double> expected;
};

TEST(Sample, DrawsWhatIsKeptInProportion) {
  const double hot = std::sqrt(0.1) + std::sqrt(0.4) + std::sqrt(0.2) + std::sqrt(0.3);
  const Row rows[] = {
      {{}, {0.1, 0.4, 0.2, 0.3}},
      {{.temperature = 2.0},
       {std::sqrt(0.1) / hot, std::sqrt(0.4) / hot, std::sqrt(0.2) / hot, std::sqrt(0.3) / hot}},
      {{.temperature = 0.5}, {0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3}},
      {{.top_k = 1}, {0, 1, 0, 0}},
      {{.top_k = 2}, {0, 4.0 / 7, 0, 3.0 / 7}},
      {{.top_k = 100}, {0.1, 0.4, 0.2, 0.3}},
      {{.top_p = 0.39}, {0, 1, 0, 0}},
      {{.top_p = 0.41}, {0, 4.0 / 7, 0, 3.0 / 7}},  // the token that crosses top_p is kept
      {{.top_p = 0.75}, {0, 4.0 / 9, 2.0 / 9, 3.0 / 9}},
      {{.top_k = 3, .top_p = 0.7}, {0, 4.0 / 7, 0, 3.0 / 7}},  // 0.7 of the 0.9 that top_k keeps
      {{.temperature = 0.5, .top_p = 0.6}, {0, 0.16 / 0.25, 0, 0.09 / 0.25}},
      {{.temperature = 1e-300}, {0, 1, 0, 0}},
      {{.temperature = 0.0, .top_k = 3}, {0, 1, 0, 0}},
  };
  for (const Row& row : rows) {
    const auto given = frequencies(row.options);
    for (size_t i = 0; i < given.size(); ++i) {
      // Five standard deviations of a share among so many draws; never is never.
      const double p = row.expected[i];
      EXPECT_NEAR(given[i], p, 5 * std::sqrt(p * (1 - p) / kDraws))
          << "row " << &row - rows << ", token " << i;
    }
  }
}

TEST(Sample, OfEqualTokensTheFirstIsLikeliest) {
  const std::vector<float> logits = {1, 3, 3, 2};
  EXPECT_EQ(sample(logits, {.temperature = 0.0}, 0), 1);
  for (int position = 0; position < 100; ++position) {
    EXPECT_EQ(sample(logits, {.top_k = 1}, position), 1);
  }
}

// A nucleus that is reached exactly takes no further token.
TEST(Sample, OfEqualTokensANucleusHasAsManyAsItTakes) {
  const std::vector<float> logits = {1, 1, 1, 1};
  for (const int64_t kept : {1, 2, 3, 4}) {
    int64_t last = 0;
    for (int position = 0; position < 200; ++position) {
      const SamplerOptions options = {.top_p = static_cast<double>(kept) / 4};
      last = std::max(last, sample(logits, options, position));
    }
    EXPECT_EQ(last, kept - 1);
  }
}

TEST(Sample, FollowsSeedAndPositionAlone) {
  const auto text = [](int64_t seed) {
    std::vector<int64_t> out;
    for (int position = 0; position < 64; ++position) {
      out.push_back(sample(kLogits, {.seed = seed}, position));
    }
    return out;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
  EXPECT_NE(text(1), text(1 + (int64_t{1} << 32)));  // all bits of the seed count
}

TEST(Sample, LastBitsOfTheLogitsHardlyEverMatter) {
  std::vector<float> other = kLogits;
  for (size_t i = 0; i < other.size(); ++i) other[i] *= i % 2 == 0 ? 1 + 1e-6f : 1 - 1e-6f;
  int differ = 0;
  for (int position = 0; position < kDraws; ++position) {
    if (sample(kLogits, {}, position) != sample(other, {}, position)) ++differ;
  }
  EXPECT_LE(differ, 1);
}

TEST(Sample, ALogitThatIsNoNumberIsNamed) {
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> logits = {1.0f, bad};
    EXPECT_THAT([&] { sample(logits, {.temperature = 0.0}, 0); },
                ThrowsError(ErrorCode::kInvalidArgument, "the logit of token 1 is "));
  }
}

}  // namespace
}  // namespace phi::generation
