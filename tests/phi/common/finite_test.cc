// Numbers that are not finite are found wherever they are, in every dtype.
#include "phi/common/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace phi {
namespace {

template <typename T>
void check(double value, bool is_finite) {
  constexpr size_t kLength = 10000;  // some blocks and a piece of one
  for (const size_t at : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, kLength - 1}) {
    std::vector<T> numbers(kLength, T(-1.5f));
    numbers[at] = T(static_cast<float>(value));
    if constexpr (std::is_same_v<T, double>) numbers[at] = value;
    const auto expected = is_finite ? int64_t{-1} : static_cast<int64_t>(at);
    EXPECT_EQ(first_nonfinite(std::as_bytes(std::span(numbers)), dtype_of<T>()), expected)
        << value << " at " << at;
  }
}

TEST(Finite, InfinitiesAndNotANumbersAreFound) {
  for (const double bad :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    check<float16>(bad, false);
    check<bfloat16>(bad, false);
    check<float>(bad, false);
    check<double>(bad, false);
  }
}

TEST(Finite, TheLargestAndSmallestNumbersAreFinite) {
  for (const double sign : {1.0, -1.0}) {
    check<float16>(sign * 65504.0, true);
    check<bfloat16>(sign * 3.3e38, true);
    check<float>(sign * 3.4028234e38, true);
    check<double>(sign * std::numeric_limits<double>::max(), true);
    for (const double small : {0.0, 1e-45, 6e-8}) {
      check<float16>(sign * small, true);
      check<float>(sign * small, true);
    }
  }
}

TEST(Finite, IntegersAreAlwaysFinite) {
  const std::vector<int32_t> ones(100, -1);
  EXPECT_EQ(first_nonfinite(std::as_bytes(std::span(ones)), DataType::INT32), -1);
  EXPECT_EQ(first_nonfinite({}, DataType::FLOAT32), -1);
}

}  // namespace
}  // namespace phi
