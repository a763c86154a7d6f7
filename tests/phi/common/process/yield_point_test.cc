// What threads do at marks: drawn again with the same seed, of every kind, elsewhere with another.
// That release builds have nothing of it is yield_symbols_test.py's.
#include "phi/common/process/yield_point.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace phi {
namespace {

constexpr uint64_t kHits = 400;
constexpr uint64_t kMarks = 32;

std::string mark(uint64_t i) { return "unit.action.moment" + std::to_string(i); }

// How often a thread sleeps at a mark.
uint64_t sleeps_at(uint64_t seed, const std::string& point) {
  uint64_t sleeps = 0;
  for (uint64_t hit = 0; hit < kHits; ++hit) {
    sleeps += detail::draw_yield(seed, 0, point.c_str(), hit).kind == Yield::Kind::kSleep;
  }
  return sleeps;
}

class YieldPoint : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kYields) GTEST_SKIP() << "this build has no yields";
  }
};

TEST_F(YieldPoint, DrawsAreMadeOfSeedThreadNameAndHit) {
  if constexpr (kYields) {
    const auto same = [](uint64_t seed, uint64_t thread, const char* point, uint64_t first_hit) {
      uint64_t equal = 0;
      for (uint64_t hit = 0; hit < kHits; ++hit) {
        equal += detail::draw_yield(seed, thread, point, first_hit + hit) ==
                 detail::draw_yield(1, 0, "a.b.c", hit);
      }
      return equal == kHits;
    };
    EXPECT_TRUE(same(1, 0, std::string("a.b.c").c_str(), 0)) << "the text counts, not its place";
    EXPECT_FALSE(same(2, 0, "a.b.c", 0));
    EXPECT_FALSE(same(1, 1, "a.b.c", 0));
    EXPECT_FALSE(same(1, 0, "a.b.d", 0));
    EXPECT_FALSE(same(1, 0, "a.b.c", 1));
  }
}

TEST_F(YieldPoint, EveryKindIsDrawn_AndSleepsAreShort) {
  if constexpr (kYields) {
    std::array<uint64_t, 4> counts{};
    for (uint64_t i = 0; i < kMarks; ++i) {
      for (uint64_t hit = 0; hit < kHits; ++hit) {
        const Yield yield = detail::draw_yield(3, 0, mark(i).c_str(), hit);
        ++counts[static_cast<size_t>(yield.kind)];
        EXPECT_LT(yield.amount, 1000u) << "microseconds or turns";
      }
    }
    for (const uint64_t count : counts) EXPECT_GT(count, kMarks * kHits / 50);
  }
}

TEST_F(YieldPoint, SeedsMakeOtherMarksBusy) {
  if constexpr (kYields) {
    std::set<uint64_t> busy_with[2];
    for (const uint64_t seed : {0, 1}) {
      for (uint64_t i = 0; i < kMarks; ++i) {
        if (sleeps_at(seed, mark(i)) > kHits / 4) busy_with[seed].insert(i);
      }
      EXPECT_GT(busy_with[seed].size(), 0u);
      EXPECT_LT(busy_with[seed].size(), kMarks);
    }
    EXPECT_NE(busy_with[0], busy_with[1]);
  }
}

}  // namespace
}  // namespace phi
