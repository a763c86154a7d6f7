// Work estimates against counts of single operations.
#include "phi/infermeta/flop_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace phi {
namespace {

double counted_keys(int64_t queries, int64_t keys) {
  int64_t seen = 0;
  for (int64_t i = 0; i < queries; ++i)
    seen += std::clamp<int64_t>(i + keys - queries + 1, 0, keys);
  return static_cast<double>(seen) / static_cast<double>(queries);
}

TEST(FlopCounts, CausalQueriesSeeTheKeysBeforeThem) {
  for (const auto& [queries, keys] :
       {std::pair<int64_t, int64_t>{7, 7}, {3, 8}, {8, 3}, {1, 5}, {5, 1}}) {
    const Dims q{2, queries, 4, 8}, k{2, keys, 2, 8};
    EXPECT_DOUBLE_EQ(VisibleKeys(q, k, true), counted_keys(queries, keys));
    EXPECT_DOUBLE_EQ(VisibleKeys(q, k, false), keys);
  }
  EXPECT_EQ(VisibleKeys({2, 0, 4, 8}, {2, 3, 4, 8}, true), 3);
}

TEST(FlopCounts, EinsumsAreMultipliedInOrder) {
  const std::vector<Dims> x{{3, 4}, {4, 5}, {5, 6}};
  EXPECT_EQ(EinsumFlops(x, "ij,jk,kl->il"), 2 * 3 * 4 * 5 + 2 * 3 * 5 * 6);
  EXPECT_EQ(EinsumFlops(x, "ij,jk,kl->jl"), 2 * 3 * 4 * 5 + 2 * 4 * 5 * 6);  // i is summed first
  EXPECT_EQ(EinsumFlops(std::vector<Dims>{{3, 4}}, "ij->i"), 0);
  EXPECT_EQ(EinsumFlops(std::vector<Dims>{{7, 3, 4}, {7, 4, 5}}, "bij,bjk->bik"),
            2 * 7 * 3 * 4 * 5);
  EXPECT_EQ(EinsumGradFlops(std::vector<Dims>{{3, 4}, {4, 5}}, "ij,jk->ik"), 2 * 2 * 3 * 4 * 5);
}

TEST(FlopCounts, ChainsMayBeginAndEndWithVectors) {
  EXPECT_EQ(MultiDotFlops(std::vector<Dims>{{4}, {4, 5}, {5}}), 2 * (4 * 5 + 4));
}

TEST(FlopCounts, FourierTransformsHaveLogLevels) {
  EXPECT_EQ(FftLevels({3, 8, 16}, {-1, 1}), 3 + 4);
  EXPECT_EQ(WindowLevels({32}), 5);
}

}  // namespace
}  // namespace phi
