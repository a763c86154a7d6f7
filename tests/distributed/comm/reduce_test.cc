// The arithmetic of reductions between ranks at rare numbers, wherever they lie.
#include "distributed/comm/reduce.h"

#include <gtest/gtest.h>

#include "tests/distributed/comm/reduce_oracle.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

using testing::kAllReduceKinds;
using testing::RareParts;

template <typename F>
void for_all_dtypes(F&& f) {
  for (int t = 1; t < kNumRealDataTypes; ++t) visit_dtype(static_cast<DataType>(t), f);
}

// No std::vector<bool>: its elements have no addresses.
template <typename T>
std::unique_ptr<T[]> array_of(const std::vector<T>& values) {
  auto out = std::make_unique<T[]>(values.size());
  std::copy(values.begin(), values.end(), out.get());
  return out;
}

TEST(ReduceArrays, RareNumbersOfEveryDtypeKindAndRank) {
  for_all_dtypes([]<typename T>() {
    const RareParts<T> parts;
    const int64_t count = parts.pairs();
    for (int64_t ranks = 1; ranks <= 4; ++ranks) {
      std::vector<std::unique_ptr<T[]>> arrays;
      std::vector<const void*> inputs;
      for (int64_t r = 0; r < ranks; ++r) {
        arrays.push_back(array_of(parts.part(r, 0, count)));
        inputs.push_back(arrays.back().get());
      }
      for (ReduceKind kind : kAllReduceKinds) {
        const auto out = std::make_unique<T[]>(static_cast<size_t>(count));
        reduce_arrays(inputs, out.get(), count, dtype_of<T>(), kind);
        for (int64_t i = 0; i < count; ++i)
          ASSERT_NO_FATAL_FAILURE(testing::expect_reduced(out[i], parts, ranks, i, kind));
      }
    }
  });
}

// The loops work in blocks of 1024 elements and in vectors within them.
TEST(ReduceArrays, OneNanOrInfinityAtEachPlaceOfEachRank) {
  constexpr int64_t kCount = 2 * 1024 + 5;
  constexpr int64_t kRanks = 3;
  for (float odd : {NAN, INFINITY, -INFINITY}) {
    for (int64_t rank = 0; rank < kRanks; ++rank) {
      for (int64_t at : phi::testing::places_in_row(kCount)) {
        std::vector<std::vector<float>> arrays(kRanks, std::vector<float>(kCount, 2.0f));
        arrays[rank][at] = odd;
        const void* inputs[] = {arrays[0].data(), arrays[1].data(), arrays[2].data()};
        for (ReduceKind kind : kAllReduceKinds) {
          std::vector<float> out(kCount);
          reduce_arrays(inputs, out.data(), kCount, DataType::FLOAT32, kind);
          const float usual = testing::reduced<float>(kind, {2, 2, 2});
          for (int64_t i = 0; i < kCount; ++i) {
            const float expected =
                i == at ? testing::reduced<float>(kind, {arrays[0][i], arrays[1][i], arrays[2][i]})
                        : usual;
            ASSERT_TRUE(phi::testing::same_number(out[i], expected))
                << name_of(kind) << " with " << odd << " at " << at << " of rank " << rank
                << ": element " << i << " is " << out[i] << ", not " << expected;
          }
        }
      }
    }
  }
}

template <typename T>
T mean_of(const std::vector<T>& values) {
  std::vector<const void*> inputs;
  for (const T& value : values) inputs.push_back(&value);
  T out{};
  reduce_arrays(inputs, &out, 1, dtype_of<T>(), ReduceKind::kAvg);
  return out;
}

TEST(ReduceArrays, AveragesOfIntegersAreExact) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(mean_of<int64_t>({kMost, kMost, kMost}), kMost);
  EXPECT_EQ(mean_of<int64_t>({kLeast, kLeast}), kLeast);
  EXPECT_EQ(mean_of<int64_t>({kMost, kMost - 1}), kMost - 1);
  EXPECT_EQ(mean_of<int64_t>({kLeast, kLeast + 1}), kLeast + 1);  // towards zero
  EXPECT_EQ(mean_of<int64_t>({kMost, kLeast}), 0);
  EXPECT_EQ(mean_of<int64_t>({-7, 0}), -3);
  EXPECT_EQ(mean_of<int64_t>(std::vector<int64_t>(1000, (int64_t{1} << 62) + 1)),
            (int64_t{1} << 62) + 1);
}

TEST(ReduceArrays, AveragesOfFloatsDoNotOverflow) {
  const auto check = []<typename T>() {
    using A = accumulator_t<T>;
    const int exponent = std::is_same_v<T, float16> ? 15 : std::numeric_limits<A>::max_exponent - 1;
    const T large = static_cast<T>(std::ldexp(A(1), exponent));
    for (const size_t n : {2, 3, 7, 64}) {
      EXPECT_EQ(mean_of<T>(std::vector<T>(n, large)), large) << name_of(dtype_of<T>()) << n;
    }
    const T zero = static_cast<T>(A(0));
    EXPECT_EQ(static_cast<double>(mean_of<T>({large, large, -large, -large})), 0.0);
    EXPECT_TRUE(std::isinf(
        static_cast<double>(mean_of<T>({static_cast<T>(INFINITY), large, large, zero}))));
  };
  check.operator()<float16>();
  check.operator()<bfloat16>();
  check.operator()<float>();
  check.operator()<double>();
  const complex64 z(0x1p127f, -0x1p127f);
  EXPECT_EQ(mean_of<complex64>({z, z}), z);
}

TEST(ReduceArrays, MayWriteOverAnInput) {
  std::vector<float> a = {1, NAN, 3}, b = {2, 1, NAN};
  const void* inputs[] = {a.data(), b.data()};
  reduce_arrays(inputs, b.data(), 3, DataType::FLOAT32, ReduceKind::kMin);
  EXPECT_EQ(b[0], 1);
  EXPECT_TRUE(std::isnan(b[1]) && std::isnan(b[2]));
}

TEST(FillIdentity, ChangesNoNumberOnEitherSide) {
  for_all_dtypes([]<typename T>() {
    for (ReduceKind kind : kAllReduceKinds) {
      if (kind == ReduceKind::kAvg) continue;
      T identity{};
      fill_identity(&identity, 1, dtype_of<T>(), kind);
      for (T value : phi::testing::rare_numbers<T>()) {
        for (const bool first : {true, false}) {
          const void* inputs[] = {first ? &identity : &value, first ? &value : &identity};
          T out{};
          reduce_arrays(inputs, &out, 1, dtype_of<T>(), kind);
          const T expected = testing::reduced<T>(kind, {value});
          EXPECT_TRUE(
              phi::testing::same_number(static_cast<double>(out), static_cast<double>(expected)))
              << name_of(kind) << " of " << name_of(dtype_of<T>()) << " "
              << static_cast<double>(value);
        }
      }
    }
  });
  float x = 0;
  EXPECT_THAT([&] { fill_identity(&x, 1, DataType::FLOAT32, ReduceKind::kAvg); },
              ThrowsError(ErrorCode::kInvalidArgument, "avg has no identity"));
}

}  // namespace
}  // namespace phi::distributed
