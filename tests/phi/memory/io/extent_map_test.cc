// First fit, merging of gaps, and random use against a plain list of bytes.
#include "phi/memory/io/extent_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace phi::memory {
namespace {

TEST(ExtentMap, TakesTheFirstGapThatFits) {
  ExtentMap map;
  EXPECT_EQ(map.take(10), 0u);
  EXPECT_EQ(map.take(20), 10u);
  EXPECT_EQ(map.take(5), 30u);
  EXPECT_TRUE(map.give_back(0, 10));
  EXPECT_EQ(map.take(11), 35u);
  EXPECT_EQ(map.take(4), 0u);
  EXPECT_EQ(map.take(6), 4u);
  EXPECT_EQ(map.end(), 46u);
}

TEST(ExtentMap, NeighbouringGapsBecomeOneAndTheLastIsNone) {
  ExtentMap map;
  for (int i = 0; i < 4; ++i) map.take(10);
  EXPECT_TRUE(map.give_back(0, 10));
  EXPECT_TRUE(map.give_back(20, 10));
  EXPECT_TRUE(map.give_back(10, 10));
  EXPECT_EQ(map.take(30), 0u);
  EXPECT_TRUE(map.give_back(30, 10));
  EXPECT_EQ(map.end(), 30u);
  EXPECT_TRUE(map.give_back(0, 30));
  EXPECT_EQ(map.end(), 0u);
}

TEST(ExtentMap, KnowsWhatIsTaken) {
  ExtentMap map;
  map.take(10);
  map.take(10);
  EXPECT_FALSE(map.give_back(5, 5));
  EXPECT_FALSE(map.give_back(0, 9));
  EXPECT_EQ(map.holding(13), (std::pair<uint64_t, uint64_t>{10, 10}));
  EXPECT_TRUE(map.give_back(0, 10));
  EXPECT_FALSE(map.give_back(0, 10));
  EXPECT_EQ(map.holding(3), std::nullopt);
  EXPECT_EQ(map.holding(20), std::nullopt);
}

TEST(ExtentMap, RandomUseNeverOverlaps) {
  std::mt19937 engine(3);
  ExtentMap map;
  std::vector<int> owner(1 << 16, 0);
  struct Range {
    uint64_t offset, nbytes;
  };
  std::vector<Range> held;
  for (int step = 1; step <= 3000; ++step) {
    if (held.size() > 40 || (!held.empty() && engine() % 3 == 0)) {
      std::swap(held[engine() % held.size()], held.back());
      const auto [offset, nbytes] = held.back();
      ASSERT_TRUE(map.give_back(offset, nbytes));
      std::fill_n(owner.begin() + static_cast<int64_t>(offset), nbytes, 0);
      held.pop_back();
    } else {
      const uint64_t nbytes = 1 + engine() % 100;
      const uint64_t offset = map.take(nbytes);
      for (uint64_t at = offset; at < offset + nbytes; ++at) ASSERT_EQ(owner.at(at), 0) << step;
      std::fill_n(owner.begin() + static_cast<int64_t>(offset), nbytes, step);
      held.push_back({offset, nbytes});
    }
  }
}

}  // namespace
}  // namespace phi::memory
