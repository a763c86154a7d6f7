// Element types: sizes, names, and the conversions of 16-bit floats.
#include "phi/common/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/error_matchers.h"

namespace phi {
namespace {

TEST(DataType, SizesAndNamesAgreeWithTheCppTypes) {
  for (int t = 1; t < kNumDataTypes; ++t) {
    const auto dtype = static_cast<DataType>(t);
    visit_any_dtype(dtype, [&]<typename T>() {
      EXPECT_EQ(size_of(dtype), sizeof(T));
      EXPECT_EQ(dtype_of<T>(), dtype);
      EXPECT_EQ(is_integral(dtype), std::is_integral_v<T> && !(std::is_same_v<T, bool>));
      EXPECT_EQ(is_complex(dtype), kIsComplex<T>);
    });
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  }
  EXPECT_EQ(size_of(DataType::UNDEFINED), 0u);
  EXPECT_EQ(short_name_of(DataType::BFLOAT16), "bf16");
}

TEST(DataType, UnknownNamesAndUndefinedAreErrors) {
  EXPECT_THAT([] { parse_dtype("float8"); },
              ThrowsError(ErrorCode::kInvalidArgument, "unknown dtype 'float8'; use one of bool"));
  EXPECT_THAT([] { parse_dtype("undefined"); },
              ThrowsError(ErrorCode::kInvalidArgument, "unknown dtype"));
  EXPECT_THAT([] { visit_dtype(DataType::UNDEFINED, []<typename T>() {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "dtype of a tensor is undefined"));
}

TEST(DataType, WhatTakesRealNumbersRefusesComplexOnes) {
  EXPECT_THAT([] { visit_dtype(DataType::COMPLEX64, []<typename T>() {}); },
              ThrowsError(ErrorCode::kUnimplemented, "complex64 is not supported here"));
}

TEST(DataType, ComplexDtypesHaveRealParts) {
  EXPECT_EQ(real_part_of(DataType::COMPLEX128), DataType::FLOAT64);
  EXPECT_EQ(complex_of(DataType::FLOAT32), DataType::COMPLEX64);
  EXPECT_EQ(complex_of(DataType::INT32), DataType::INT32);
}

TEST(AccumulatorT, SumsAreKeptWide) {
  EXPECT_TRUE((std::is_same_v<accumulator_t<bfloat16>, float>));
  EXPECT_TRUE((std::is_same_v<accumulator_t<double>, double>));
  EXPECT_TRUE((std::is_same_v<accumulator_t<bool>, int64_t>));
}

// Every bit pattern but NaN comes back from float unchanged; NaN stays NaN.
template <typename Half>
void check_round_trip() {
  for (uint32_t bits = 0; bits <= 0xffffu; ++bits) {
    Half half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    const Half back(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, half.bits) << bits;
    }
  }
}

TEST(Half, EveryValueComesBackFromFloat) {
  check_round_trip<float16>();
  check_round_trip<bfloat16>();
}

// Between two neighbours a and b: the nearer one, and of equally near ones that with an even
// pattern.
template <typename Half>
void check_rounding(uint16_t first, uint16_t last) {
  for (uint16_t bits = first; bits < last; ++bits) {
    Half a;
    Half b;
    a.bits = bits;
    b.bits = static_cast<uint16_t>(bits + 1);
    const float low = a;
    const float high = b;
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(Half(middle).bits, bits % 2 == 0 ? a.bits : b.bits) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, low)).bits, a.bits) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, high)).bits, b.bits) << bits;
    ASSERT_EQ(Half(-middle).bits, Half(middle).bits | 0x8000u) << bits;
  }
}

TEST(Half, RoundsToNearestEven) {
  check_rounding<float16>(0, 0x7bff);  // subnormals and all finite values
  check_rounding<bfloat16>(0x0080, 0x7f7f);
}

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(static_cast<float>(float16(65519.0f)), 65504.0f);
  EXPECT_EQ(static_cast<float>(float16(65520.0f)), INFINITY);
  EXPECT_EQ(static_cast<float>(float16(-INFINITY)), -INFINITY);
  EXPECT_EQ(static_cast<float>(bfloat16(std::numeric_limits<float>::max())), INFINITY);
}

}  // namespace
}  // namespace phi
