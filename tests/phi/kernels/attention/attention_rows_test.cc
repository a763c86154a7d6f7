// Steps of the online softmax: totals over several steps, rows without scores, NaN; slopes;
// rounding to bfloat16 as element by element.
#include "phi/kernels/cpu/attention/attention_rows.h"

#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

using attention_rows::Softmax;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float add_scores(std::vector<float>* row, Softmax<float>* softmax) {
  const auto n = static_cast<int64_t>(row->size());
  return attention_rows::add_scores(n, attention_rows::largest(n, row->data()), row->data(),
                                    softmax);
}

std::vector<float> row_of(int64_t n, uint32_t seed) {
  const Values values = random_values(n, seed, -4, 4);
  return {values.begin(), values.end()};
}

TEST(AttentionRows, StepsAddUpToTheWholeSum) {
  Softmax<float> softmax;
  double sum = 0;
  for (uint32_t step = 0; step < 4; ++step) {
    std::vector<float> row = row_of(96, step);
    row[5] = static_cast<float>(step);
    row[17] = -kInf;
    for (const float x : row) sum += std::exp(static_cast<double>(x));
    const std::vector<float> scores = row;
    const float before = softmax.most;
    const float shrink = add_scores(&row, &softmax);
    EXPECT_EQ(softmax.most, std::max(before, *std::max_element(scores.begin(), scores.end())));
    EXPECT_NEAR(shrink, std::exp(before - softmax.most), 1e-6);
    for (int j = 0; j < 96; ++j) ASSERT_NEAR(row[j], std::exp(scores[j] - softmax.most), 1e-6) << j;
    EXPECT_NEAR(softmax.total * std::exp(softmax.most), sum, 1e-5 * sum);
  }
}

TEST(AttentionRows, NothingSeenLeavesTheSoftmaxEmpty) {
  Softmax<float> softmax;
  std::vector<float> row(64, -kInf);
  std::vector<float> none;
  EXPECT_EQ(add_scores(&row, &softmax), 1.0f);
  EXPECT_EQ(add_scores(&none, &softmax), 1.0f);
  EXPECT_EQ(row, std::vector<float>(64, 0.0f));
  EXPECT_EQ(softmax.most, -kInf);
  EXPECT_EQ(softmax.total, 0.0f);
}

TEST(AttentionRows, NanAnywhereShowsInTheTotal) {
  for (const int64_t place : places_in_row(64)) {
    for (const bool others_hidden : {false, true}) {
      Softmax<float> softmax;
      std::vector<float> row = others_hidden ? std::vector<float>(64, -kInf) : row_of(64, 1);
      std::vector<float> hidden(64, -kInf), next = row_of(64, 2);
      row[place] = kNan;
      add_scores(&row, &softmax);
      EXPECT_TRUE(std::isnan(row[place]));
      add_scores(&hidden, &softmax);
      EXPECT_TRUE(std::isnan(softmax.total)) << place;
      add_scores(&next, &softmax);
      EXPECT_TRUE(std::isnan(softmax.total)) << place;
    }
  }
  Softmax<float> softmax;
  std::vector<float> row(64, kNan);
  add_scores(&row, &softmax);
  EXPECT_TRUE(std::isnan(softmax.total));
}

TEST(AttentionRows, SlopesAreWeightsTimesProductsLessTheShare) {
  std::vector<float> weights = row_of(96, 3), slopes = row_of(96, 4);
  const std::vector<float> scores = weights, products = slopes;
  attention_rows::make_slopes<float>(96, 4.5f, 0.25f, weights.data(), slopes.data());
  for (int j = 0; j < 96; ++j) {
    const double weight = std::exp(scores[j] - 4.5);
    ASSERT_NEAR(weights[j], weight, 1e-6) << j;
    ASSERT_NEAR(slopes[j], weight * (products[j] - 0.25), 1e-5) << j;
  }
}

}  // namespace
}  // namespace phi::testing
