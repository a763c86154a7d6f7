// How numbers are written for people.
#include "phi/common/readable_numbers.h"

#include <gtest/gtest.h>

namespace phi {
namespace {

TEST(ReadableNumbers, HaveSeparatorsAndUnits) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(-1234567), "-1,234,567");
  EXPECT_EQ(with_separators(-123), "-123");
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(int64_t{88} << 20), "88.0 MiB");
  EXPECT_EQ(human_bytes(int64_t{126} << 20), "126 MiB");
  EXPECT_EQ(human_count(532), "532");
  EXPECT_EQ(human_count(10'913'000), "10.9M");
  EXPECT_EQ(human_count(999'960), "1.0M");
}

}  // namespace
}  // namespace phi
