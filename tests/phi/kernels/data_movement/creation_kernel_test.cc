// full, arange, cast and assign.

#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/creation.h"
#include "phi/infermeta/creation.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename F>
void for_all_dtypes(F&& f) {
  for (int t = 1; t < kNumRealDataTypes; ++t) visit_dtype(static_cast<DataType>(t), f);
}

TEST(FullKernel, EveryElementInEveryDtype) {
  for_all_dtypes([]<typename T>() {
    for (const Dims& dims : {Dims(), Dims{0}, Dims{3, 100}}) {
      DenseTensor out = blank<T>(dims);
      registered<kernels::full, T>(KernelContext(), 1, &out);
      EXPECT_EQ(to_doubles(out), Values(dims.numel(), 1));
    }
  });
  DenseTensor out = blank<bfloat16>({2});
  registered<kernels::full, bfloat16>(KernelContext(), -0.5, &out);
  EXPECT_EQ(to_doubles(out), (Values{-0.5, -0.5}));
}

TEST(ArangeKernel, CountsInTheDtypeOfOut) {
  struct Row {
    Scalar start;
    Scalar end;
    Scalar step;
    DataType dtype;
    Values expected;
  };
  const Row rows[] = {
      {0, 5, 1, DataType::INT64, {0, 1, 2, 3, 4}},
      {5, 0, -2, DataType::INT32, {5, 3, 1}},
      {0, 1, 0.25, DataType::FLOAT32, {0, 0.25, 0.5, 0.75}},
      {1, 2, 0.5, DataType::FLOAT64, {1, 1.5}},
      {-1, 1.5, 0.5, DataType::BFLOAT16, {-1, -0.5, 0, 0.5, 1}},
      {2, 5, 1, DataType::FLOAT16, {2, 3, 4}},
      {0.5, 4, 1.5, DataType::INT64, {0, 2, 3}},
      {3, 3, 1, DataType::INT64, {}},
  };
  for (const Row& row : rows) {
    DenseTensor out = blank_like(ArangeInferMeta(row.start, row.end, row.step, row.dtype));
    visit_dtype(row.dtype, [&]<typename T>() {
      if constexpr (!std::is_same_v<T, bool>) {
        registered<kernels::arange, T>(KernelContext(), row.start, row.step, &out);
      }
    });
    EXPECT_EQ(to_doubles(out), row.expected) << out.meta().to_string();
  }
}

TEST(ArangeKernel, LateElementsHaveOneRounding) {
  DenseTensor out = DenseTensor::empty({{1000000}, DataType::FLOAT32}, CPUPlace());
  registered<kernels::arange, float>(KernelContext(), 0, 0.1, &out);
  EXPECT_EQ(out.values<float>()[999999], static_cast<float>(999999 * 0.1));
}

TEST(ArangeKernel, AShardCountsFromItsOffset) {
  FakeView view;
  view.outputs = {part({10}, 0, 4, 7)};
  DenseTensor out = blank<int64_t>({3});
  registered<kernels::arange, int64_t>(KernelContext(CPUPlace(), &view), 100, 10, &out);
  EXPECT_EQ(to_doubles(out), (Values{140, 150, 160}));
}

TEST(CastKernel, BetweenAllDtypes) {
  // Whole numbers from 0 to 100 are exact in all but bool; 300 elements pass the vector loops.
  Values xs(300);
  for (int i = 0; i < 300; ++i) xs[i] = i % 101;
  for_all_dtypes([&]<typename From>() {
    const DenseTensor x = tensor<From>(xs, {3, 100});
    for_all_dtypes([&]<typename To>() {
      DenseTensor out = blank<To>({3, 100});
      registered<kernels::cast, From>(KernelContext(), x, &out);
      Values expected = to_doubles(x);
      if (std::is_same_v<To, bool>) {
        for (double& v : expected) v = v != 0;
      }
      EXPECT_EQ(to_doubles(out), expected)
          << name_of(dtype_of<From>()) << " to " << name_of(dtype_of<To>());
    });
  });
}

TEST(CastKernel, TruncatesAndRounds) {
  const DenseTensor x = tensor<float>({-1.75, 2.9, 1 + 0x1p-9, 0.001, NAN, 1e30}, {6});
  DenseTensor halves = blank<float16>({6});
  registered<kernels::cast, float>(KernelContext(), x, &halves);
  EXPECT_EQ(to_doubles(halves)[2], 1 + 0x1p-9);
  EXPECT_EQ(to_doubles(halves)[5], INFINITY);
  EXPECT_TRUE(std::isnan(to_doubles(halves)[4]));
  DenseTensor brains = blank<bfloat16>({6});
  registered<kernels::cast, float>(KernelContext(), x, &brains);
  EXPECT_EQ(to_doubles(brains)[2], 1);
  EXPECT_TRUE(std::isnan(to_doubles(brains)[4]));
  DenseTensor flags = blank<bool>({6});
  registered<kernels::cast, float>(KernelContext(), x, &flags);
  EXPECT_EQ(to_doubles(flags), (Values{1, 1, 1, 1, 1, 1}));
  DenseTensor whole_numbers = blank<int32_t>({2});
  registered<kernels::cast, float>(KernelContext(), tensor<float>({-1.75, 2.9}, {2}),
                                   &whole_numbers);
  EXPECT_EQ(to_doubles(whole_numbers), (Values{-1, 2}));
}

TEST(AssignKernel, CopiesEveryDtype) {
  for_all_dtypes([]<typename T>() {
    for (const Dims& dims : {Dims(), Dims{0, 2}, Dims{5, 3}}) {
      const DenseTensor x = tensor<T>(Values(dims.numel(), 1), dims);
      DenseTensor out = blank<T>(dims);
      registered<kernels::assign, T>(KernelContext(), x, &out);
      EXPECT_EQ(to_doubles(out), to_doubles(x));
    }
  });
}

// What a cast means, by the numbers themselves: integers lose high bits, floats their fraction or
// digits; floats beyond an integer dtype become its nearest number, NaN becomes 0.
template <typename To, typename From>
To cast_oracle(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    if constexpr (kIs16Bit<From>) {
      return static_cast<float>(x) != 0;
    } else {
      return x != From(0);
    }
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(static_cast<uint64_t>(x));
  } else if constexpr (std::is_integral_v<From>) {
    if constexpr (kIs16Bit<To>) return To(static_cast<float>(x));
    if constexpr (!kIs16Bit<To>) return static_cast<To>(x);
  } else if constexpr (std::is_integral_v<To>) {
    using Wide = std::conditional_t<std::is_same_v<To, int64_t>, int64_t, int32_t>;
    const auto value = static_cast<double>(x);
    const double end = std::ldexp(1.0, sizeof(Wide) * 8 - 1);
    if (std::isnan(value)) return 0;
    if (value >= end) return static_cast<To>(std::numeric_limits<Wide>::max());
    if (value < -end) return static_cast<To>(std::numeric_limits<Wide>::min());
    return static_cast<To>(static_cast<Wide>(value));
  } else {
    if constexpr (std::is_same_v<To, double>) return static_cast<double>(x);
    if constexpr (!std::is_same_v<To, double>) return To(static_cast<float>(x));
  }
}

TEST(CastKernel, RareNumbersBetweenAllDtypes) {
  for_all_dtypes([]<typename From>() {
    const std::vector<From> list = rare_numbers<From>();
    const DenseTensor x = rare_tensor<From>({static_cast<int64_t>(list.size())});
    for_all_dtypes([&]<typename To>() {
      DenseTensor out = blank<To>(x.dims());
      registered<kernels::cast, From>(KernelContext(), x, &out);
      for (size_t i = 0; i < list.size(); ++i) {
        const To expected = cast_oracle<To, From>(list[i]);
        const To got = out.data<To>()[i];
        const bool same = std::is_integral_v<To> ? got == expected
                                                 : same_number(static_cast<double>(got),
                                                               static_cast<double>(expected));
        EXPECT_TRUE(same) << static_cast<double>(list[i]) << " from " << name_of(dtype_of<From>())
                          << " to " << name_of(dtype_of<To>()) << " is " << static_cast<double>(got)
                          << ", not " << static_cast<double>(expected);
      }
    });
  });
}

// Every element of x to every dtype.
template <typename From>
void check_casts(const Values& xs) {
  const auto n = static_cast<int64_t>(xs.size());
  const DenseTensor x = tensor<From>(xs, {n});
  for_all_dtypes([&]<typename To>() {
    DenseTensor out = blank<To>({n});
    registered<kernels::cast, From>(KernelContext(), x, &out);
    int failures = 0;
    for (int64_t i = 0; i < n && failures < 3; ++i) {
      const To expected = cast_oracle<To, From>(x.data<From>()[i]);
      const bool same =
          same_number(static_cast<double>(out.data<To>()[i]), static_cast<double>(expected));
      EXPECT_TRUE(same) << xs[i] << " from " << name_of(dtype_of<From>()) << " to "
                        << name_of(dtype_of<To>()) << " is "
                        << static_cast<double>(out.data<To>()[i]) << ", not "
                        << static_cast<double>(expected);
      failures += same ? 0 : 1;
    }
  });
}

TEST(CastKernel, EveryNumberOf16BitsAndRandomFloats) {
  constexpr uint32_t kSeed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  check_casts<float16>(every_number<float16>());
  check_casts<bfloat16>(every_number<bfloat16>());
  check_casts<float>(random_bits_of_float(200'000, kSeed));
}

TEST(CastKernel, FloatsBeyondIntegersAreTheNearest) {
  const DenseTensor x = tensor<float>({NAN, INFINITY, -INFINITY, 3e9, -3e9, 1e19, -2.5}, {7});
  DenseTensor ints = blank<int32_t>({7}), longs = blank<int64_t>({7}), bytes = blank<uint8_t>({7});
  registered<kernels::cast, float>(KernelContext(), x, &ints);
  registered<kernels::cast, float>(KernelContext(), x, &longs);
  registered<kernels::cast, float>(KernelContext(), x, &bytes);
  constexpr double kMost = 2147483647.0, kLeast = -2147483648.0;
  EXPECT_EQ(to_doubles(ints), (Values{0, kMost, kLeast, kMost, kLeast, kMost, -2}));
  EXPECT_EQ(longs.values<int64_t>()[1], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(longs.values<int64_t>()[2], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(longs.values<int64_t>()[3], 3000000000);
  EXPECT_EQ(longs.values<int64_t>()[5], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to_doubles(bytes), (Values{0, 255, 0, 255, 0, 255, 254}));
  // At the very ends: the last float below 2^31, 2^31 and -2^31.
  DenseTensor ends = blank<int32_t>({3});
  registered<kernels::cast, float>(KernelContext(),
                                   tensor<float>({2147483520.0, 0x1p31, -0x1p31}, {3}), &ends);
  EXPECT_EQ(to_doubles(ends), (Values{2147483520.0, kMost, kLeast}));
}

TEST(FullKernel, RareValuesOfOtherDtypes) {
  DenseTensor longs = blank<int64_t>({1});
  registered<kernels::full, int64_t>(KernelContext(), NAN, &longs);
  EXPECT_EQ(longs.values<int64_t>()[0], 0);
  registered<kernels::full, int64_t>(KernelContext(), INFINITY, &longs);
  EXPECT_EQ(longs.values<int64_t>()[0], std::numeric_limits<int64_t>::max());
  registered<kernels::full, int64_t>(KernelContext(), int64_t{9007199254740993}, &longs);
  EXPECT_EQ(longs.values<int64_t>()[0], 9007199254740993);
  for (double v : rare_floats<float>()) {
    DenseTensor out = blank<float>({1});
    registered<kernels::full, float>(KernelContext(), v, &out);
    EXPECT_TRUE(same_number(to_doubles(out)[0], v)) << v;
  }
}

}  // namespace
}  // namespace phi::testing
