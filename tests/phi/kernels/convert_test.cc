// Arrays of 16-bit floats to float's and back: each number as a single one is converted, wherever
// it stands and however long the array is. ctest runs it in both forms of the loops.
#include "phi/kernels/cpu/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace phi::testing {
namespace {

template <typename T>
std::vector<T> every_number() {
  std::vector<T> all(0x10000);
  for (uint32_t bits = 0; bits < all.size(); ++bits) all[bits].bits = static_cast<uint16_t>(bits);
  return all;
}

/// Floats beside what they round to: one apart, half-way, NaN with all bits of its fraction.
template <typename T>
std::vector<float> floats_around(const std::vector<T>& numbers) {
  std::vector<float> floats;
  for (const T number : numbers) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(number));
    for (const uint32_t beside : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u})
      floats.push_back(std::bit_cast<float>(bits + beside));
  }
  return floats;
}

template <typename T>
auto bits_of(T x) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>(x);
}

template <typename From, typename To>
void expect_each_as_alone(const std::vector<From>& x, size_t begin, size_t n) {
  const To untouched = To(-1234.5f);
  std::vector<To> out(n + 1, untouched);
  convert(x.data() + begin, out.data(), static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) {
    const To alone = static_cast<To>(static_cast<float>(x[begin + i]));
    ASSERT_EQ(bits_of(out[i]), bits_of(alone)) << i << " of " << n << " from " << begin;
  }
  ASSERT_EQ(bits_of(out[n]), bits_of(untouched)) << "written behind " << n;
}

template <typename From, typename To>
void expect_all_as_alone(const std::vector<From>& x) {
  expect_each_as_alone<From, To>(x, 0, x.size());
  for (size_t n = 0; n < 70; ++n) expect_each_as_alone<From, To>(x, 1000 + n * 7, n);
}

TEST(Convert, Float16ArraysAreWidenedAsSingleNumbers) {
  expect_all_as_alone<float16, float>(every_number<float16>());
}
TEST(Convert, BFloat16ArraysAreWidenedAsSingleNumbers) {
  expect_all_as_alone<bfloat16, float>(every_number<bfloat16>());
}
TEST(Convert, FloatsAreRoundedToFloat16AsSingleNumbers) {
  expect_all_as_alone<float, float16>(floats_around(every_number<float16>()));
}
TEST(Convert, FloatsAreRoundedToBFloat16AsSingleNumbers) {
  expect_all_as_alone<float, bfloat16>(floats_around(every_number<bfloat16>()));
}

/// Of arrays longer and shorter than the blocks of floats that they go by.
template <typename From, typename To>
void expect_as_convert_value(const std::vector<From>& numbers) {
  for (const size_t n : {size_t{1}, size_t{511}, size_t{513}, numbers.size()}) {
    // The last element is not written to.
    std::vector<To> out(n + 1, convert_value<To>(3.0f));
    convert(numbers.data(), out.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i <= n; ++i) {
      const To expected = i < n ? convert_value<To>(numbers[i]) : convert_value<To>(3.0f);
      const bool both_nan = out[i] != out[i] && expected != expected;
      ASSERT_TRUE(both_nan || out[i] == expected) << i << " of " << n;
    }
  }
}

TEST(Convert, OtherNumbersAreConvertedByWayOfFloat) {
  const auto halves = every_number<float16>();
  expect_as_convert_value<float16, bfloat16>(halves);
  expect_as_convert_value<float16, double>(halves);
  expect_as_convert_value<float16, int32_t>(halves);
  expect_as_convert_value<float16, int8_t>(halves);
  expect_as_convert_value<float16, complex64>(halves);
  const auto brains = every_number<bfloat16>();
  expect_as_convert_value<bfloat16, float16>(brains);
  expect_as_convert_value<bfloat16, int64_t>(brains);
  expect_as_convert_value<bfloat16, uint8_t>(brains);
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  std::vector<complex128> complex;
  for (const bfloat16 x : brains) {
    const double wide = static_cast<double>(static_cast<float>(x)) * (1 + 0x1p-9 + 0x1p-40);
    doubles.push_back(wide);
    complex.push_back({wide, 1});
    integers.push_back(convert_value<int64_t>(wide) + 1);
  }
  expect_as_convert_value<double, float16>(doubles);
  expect_as_convert_value<double, bfloat16>(doubles);
  expect_as_convert_value<complex128, bfloat16>(complex);
  expect_as_convert_value<int64_t, float16>(integers);
  expect_as_convert_value<int64_t, bfloat16>(integers);
}

// Loops that look for NaN or subnormal numbers look at several numbers at once.
TEST(Convert, OneRareNumberAmongOthersIsRoundedAsItIsAlone) {
  std::vector<float> numbers(70);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0f + 0.00391f * static_cast<float>(i);
  for (const uint32_t rare : {0x7f800001u, 0x7fffffffu, 0xff80ffffu, 0xffffffffu, 0x00000001u,
                              0x00018000u, 0x803f8001u, 0x007fffffu, 0x807fffffu}) {
    for (size_t at = 0; at < numbers.size(); ++at) {
      std::vector<float> x = numbers;
      x[at] = std::bit_cast<float>(rare);
      expect_each_as_alone<float, bfloat16>(x, 0, x.size());
    }
  }
}

}  // namespace
}  // namespace phi::testing
