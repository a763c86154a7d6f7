// Places along the extents of row-major arrays, beside those that are counted out.
#include "phi/gpu/index_space.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace phi::gpu {
namespace {

TEST(GpuSpace, EveryElementHasItsPlace) {
  const IndexSpace<3> space({3, 1, 5});
  EXPECT_EQ(space.extent(0), 3);
  EXPECT_EQ(space.extent(2), 5);
  int64_t i = 0;
  for (int64_t outer = 0; outer < 4; ++outer) {
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t column = 0; column < 5; ++column, ++i) {
        const auto place = space.place(i);
        EXPECT_EQ(place.outer, outer);
        EXPECT_EQ(place.along[0], row);
        EXPECT_EQ(place.along[1], 0);
        EXPECT_EQ(place.along[2], column);
      }
    }
  }
}

TEST(GpuSpace, PlacesBeyondWhat32BitsCount) {
  constexpr int64_t kRows = int64_t{1} << 33, kColumns = 7;
  const auto place = IndexSpace<2>({kRows, kColumns}).place((5 * kRows + kRows - 1) * kColumns + 6);
  EXPECT_EQ(place.outer, 5);
  EXPECT_EQ(place.along[0], kRows - 1);
  EXPECT_EQ(place.along[1], 6);
}

}  // namespace
}  // namespace phi::gpu
