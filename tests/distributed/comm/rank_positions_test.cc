// Positions in ascending lists, which are searched, and in others.
#include "distributed/comm/rank_positions.h"

#include <gtest/gtest.h>

#include <vector>

namespace phi::distributed {
namespace {

TEST(RankPositions, AreThoseOfTheList) {
  for (const std::vector<int64_t>& ranks : {std::vector<int64_t>{7}, {0, 3, 4, 9}, {4, 0, 9, 3}}) {
    const RankPositions positions(ranks);
    for (size_t i = 0; i < ranks.size(); ++i)
      EXPECT_EQ(positions.of(ranks[i]), static_cast<int64_t>(i));
  }
}

}  // namespace
}  // namespace phi::distributed
