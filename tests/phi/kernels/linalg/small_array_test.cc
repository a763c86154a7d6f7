// Small arrays: what is in them when they are copied, moved and assigned, inside and outside.
#include "phi/kernels/cpu/linalg/small_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace phi::linalg {
namespace {

SmallArray<int64_t> counted(size_t size) {
  SmallArray<int64_t> x(size);
  std::iota(x.begin(), x.end(), 1);
  return x;
}

std::vector<int64_t> elements(const SmallArray<int64_t>& x) { return {x.begin(), x.end()}; }

// Up to 32 elements lie inside.
constexpr size_t kSizes[] = {0, 1, 31, 32, 33, 1000};

TEST(SmallArray, BeginsWithZeros) {
  for (size_t size : kSizes) {
    EXPECT_EQ(elements(SmallArray<int64_t>(size)), std::vector<int64_t>(size));
  }
  EXPECT_EQ(SmallArray<int64_t>().size(), 0U);
}

TEST(SmallArray, ACopyIsAnother) {
  for (size_t size : kSizes) {
    SmallArray<int64_t> x = counted(size);
    const SmallArray<int64_t> copy = x;
    x = SmallArray<int64_t>(size);
    EXPECT_EQ(elements(copy), elements(counted(size)));
  }
}

TEST(SmallArray, MovesFromAnySizeToAnySize) {
  for (size_t from : kSizes) {
    for (size_t to : kSizes) {
      SmallArray<int64_t> x = counted(from), y = counted(to);
      y = std::move(x);
      EXPECT_EQ(elements(y), elements(counted(from))) << to;
      const SmallArray<int64_t> z = std::move(y);
      EXPECT_EQ(elements(z), elements(counted(from)));
      x = counted(to);
      EXPECT_EQ(elements(x), elements(counted(to)));
    }
  }
}

TEST(SmallArray, MayBeAssignedToItself) {
  for (size_t size : kSizes) {
    SmallArray<int64_t> x = counted(size);
    const SmallArray<int64_t>& same = x;
    x = same;
    EXPECT_EQ(elements(x), elements(counted(size)));
  }
}

TEST(SmallArray, AnElementIsWhereAVectorLoadsItFrom) {
  for (size_t size : {1, 1000}) {
    SmallArray<int64_t> x = counted(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(x.data()) % 64, 0U);
    const SmallArray<int64_t> moved = std::move(x);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.data()) % 64, 0U);
  }
}

}  // namespace
}  // namespace phi::linalg
