// The order of a chain of products against all orders there are.
#include "phi/common/chain_order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace phi {
namespace {

/// Multiplications of matrices i to j, where `cut` says how they are parted.
template <typename Cut>
int64_t work(const std::vector<int64_t>& extents, size_t i, size_t j, const Cut& cut) {
  if (i == j) return 0;
  const size_t at = cut(i, j);
  return work(extents, i, at, cut) + work(extents, at + 1, j, cut) +
         extents[i] * extents[at + 1] * extents[j + 1];
}

int64_t least_work(const std::vector<int64_t>& extents, size_t i, size_t j) {
  int64_t least = i == j ? 0 : INT64_MAX;
  for (size_t at = i; at < j; ++at) {
    least = std::min(least, least_work(extents, i, at) + least_work(extents, at + 1, j) +
                                extents[i] * extents[at + 1] * extents[j + 1]);
  }
  return least;
}

TEST(ChainOrder, TakesTheFewestMultiplications) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{10, 100, 5, 50},
                                              {30, 35, 15, 5, 10, 20, 25},
                                              {1, 7, 1, 7, 1, 7},
                                              {2, 3, 4},
                                              {4, 3}}) {
    const ChainOrder order(extents);
    const size_t last = extents.size() - 2;
    EXPECT_EQ(work(extents, 0, last, [&](size_t i, size_t j) { return order.cut(i, j); }),
              least_work(extents, 0, last));
    EXPECT_EQ(order.multiplications(), least_work(extents, 0, last));
  }
}

}  // namespace
}  // namespace phi
