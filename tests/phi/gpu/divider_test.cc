// Division as a product and a shift, beside the host's.
#include "phi/gpu/divider.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace phi::gpu {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// Both neighbours of each power of 2 too, up to `most`.
std::vector<int64_t> numbers_up_to(int64_t most, uint64_t seed) {
  std::vector<int64_t> numbers;
  std::mt19937_64 draw(seed);
  for (int bits = 0; bits < 63; ++bits) {
    const int64_t power = int64_t{1} << bits;
    for (const int64_t number :
         {power - 1, power, power + 1, static_cast<int64_t>(draw() >> (64 - bits - 1) >> 1)}) {
      if (number > 0 && number <= most) numbers.push_back(number);
    }
  }
  return numbers;
}

TEST(GpuDivider, QuotientsAreExact) {
  const std::vector<int64_t> dividends = numbers_up_to(kMost, 1);
  for (const int64_t by : numbers_up_to(int64_t{1} << 62, 2)) {
    const Divider divider(by);
    EXPECT_EQ(divider.by(), by);
    const auto check = [&](int64_t i) {
      ASSERT_EQ(divider.quotient(i), i / by) << i << " / " << by;
    };
    check(0);
    check(kMost);
    for (const int64_t i : dividends) check(i);
    // Where the quotient changes: a multiple, and what is one below it.
    for (const int64_t multiple : {by, kMost / by * by, kMost / by / 2 * by}) {
      if (multiple == 0) continue;
      check(multiple);
      check(multiple - 1);
    }
  }
}

TEST(GpuDivider, OfNothingThereIsNothing) {
  EXPECT_EQ(Divider(0).by(), 0);
  EXPECT_EQ(Divider(0).quotient(0), 0);
}

TEST(GpuDivider, SmallNumbersAreExact) {
  for (int64_t by = 1; by <= 300; ++by) {
    const Divider divider(by);
    for (int64_t i = 0; i <= 2000; ++i) ASSERT_EQ(divider.quotient(i), i / by) << i << " / " << by;
  }
}

}  // namespace
}  // namespace phi::gpu
