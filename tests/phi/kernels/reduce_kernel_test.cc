// Reductions against sums over every element in double precision.

#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/reduce.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

struct Row {
  Dims dims;
  IntArray axis;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      {{}, {}},
      {{7}, {}},
      {{3000}, {0}},
      {{5, 7}, {}},
      {{5, 7}, {1}},
      {{5, 7}, {0}},
      {{5, 7}, {-1}},
      {{5, 700}, {0}},
      {{40, 600}, {-2}},
      {{3, 4, 5}, {1}},
      {{3, 4, 5}, {0, 2}},
      {{3, 4, 5}, {2, 0}},
      {{3, 4, 300}, {0, 1}},
      {{150, 3, 5}, {0, 2}},
      {{70, 2, 1100}, {0, 2}},
      {{3, 4, 5}, {-1, -2}},
      {{2, 3, 4, 5, 6}, {1, 3}},
      {{2, 3, 4, 5, 6}, {0, 2, 4}},
      {{4, 1, 3}, {1}},
      {{4, 1, 3}, {0, 1}},
      {{1, 1}, {1}},
      {{300, 3}, {1}},
      {{0, 3}, {0}},
      {{0, 3}, {1}},
      {{3, 0}, {1}},
      {{2, 0, 3}, {1}},
      {{2, 3, 0}, {0}},
      {{0}, {}},
  };
  return rows;
}

// For each output (row-major), the elements of x that reduce to it.
std::vector<Values> groups(const Values& x, const Row& row) {
  const AxisSet reduced = normalise_axes(row.axis, row.dims);
  const Dims strides = row.dims.strides();
  const Dims kept = ReduceInferMeta({row.dims, DataType::FLOAT64}, row.axis, true).dims;
  std::vector<Values> out(kept.numel());
  for (int64_t i = 0; i < row.dims.numel(); ++i) {
    int64_t to = 0;
    for (int d = 0; d < row.dims.ndim(); ++d) {
      const int64_t index = i / strides[d] % row.dims[d];
      to += reduced.has(d) ? 0 : index * kept.strides()[d];
    }
    out[to].push_back(x[i]);
  }
  return out;
}

template <typename T, typename Out, typename Kernel>
void check(Kernel kernel, double (*oracle)(const Values&), bool whole_numbers) {
  for (const Row& row : rows()) {
    Values xs = random_values(row.dims.numel(), 3, std::is_same_v<T, uint8_t> ? 0 : -3, 3);
    if (std::is_same_v<T, bool>) {
      for (double& v : xs) v = v > 0;
    }
    if (whole_numbers) {
      for (double& v : xs) v = std::round(v);
    }
    Values expected;
    for (const Values& group : groups(xs, row)) expected.push_back(oracle(group));
    const TensorMeta meta =
        ReduceInferMeta({row.dims, dtype_of<Out>()}, row.axis, /*keepdim=*/false);
    DenseTensor out = blank<Out>(meta.dims);
    kernel(KernelContext(), tensor<T>(xs, row.dims), row.axis, &out);
    expect_close<Out>(out, expected,
                      std::string(name_of(dtype_of<T>())) + row.dims.to_string() + " over " +
                          row.axis.to_string());
  }
}

template <typename T>
double max_of(const Values& values) {
  double max = -INFINITY;
  if (std::is_integral_v<T>) max = static_cast<double>(std::numeric_limits<T>::lowest());
  for (double v : values) max = std::max(max, v);
  return max;
}

TEST(SumKernel, FloatingDtypes) {
  check<float, float>(registered<kernels::sum, float>, sum_of, false);
  check<double, double>(registered<kernels::sum, double>, sum_of, false);
  check<float16, float16>(registered<kernels::sum, float16>, sum_of, false);
  check<bfloat16, bfloat16>(registered<kernels::sum, bfloat16>, sum_of, false);
}

TEST(SumKernel, IntegersAndBoolSumInInt64) {
  check<bool, int64_t>(registered<kernels::sum, bool>, sum_of, true);
  check<uint8_t, int64_t>(registered<kernels::sum, uint8_t>, sum_of, true);
  check<int32_t, int64_t>(registered<kernels::sum, int32_t>, sum_of, true);
  check<int64_t, int64_t>(registered<kernels::sum, int64_t>, sum_of, true);
}

TEST(SumKernel, WritesTheDtypeOfOut) {
  check<float16, float>(registered<kernels::sum, float16>, sum_of, false);
  check<int32_t, double>(registered<kernels::sum, int32_t>, sum_of, true);
  check<float, int32_t>(registered<kernels::sum, float>, sum_of, true);
}

// Elements are cast to the dtype of out, and then added.
template <typename T, typename To>
void expect_cast_sum(const Values& xs, double expected) {
  const auto n = static_cast<int64_t>(xs.size());
  Values columns;
  for (double v : xs) columns.insert(columns.end(), {v, v});
  DenseTensor out = blank<To>({}), both = blank<To>({2});
  registered<kernels::sum, T>(KernelContext(), tensor<T>(xs, {n}), {}, &out);
  registered<kernels::sum, T>(KernelContext(), tensor<T>(columns, {n, 2}), {0}, &both);
  const std::string what =
      std::string(name_of(dtype_of<T>())) + " to " + std::string(name_of(dtype_of<To>()));
  EXPECT_EQ(to_doubles(out), Values{expected}) << what;
  EXPECT_EQ(to_doubles(both), Values(2, expected)) << what << " down columns";
}

TEST(SumKernel, CastsBeforeItAdds) {
  expect_cast_sum<float, int32_t>({0.6, 0.6, -1.7, 2.9}, 1);
  expect_cast_sum<double, int64_t>({0.5, 0.5}, 0);
  expect_cast_sum<float, uint8_t>({-1, 2}, 1);
  expect_cast_sum<int64_t, bool>({2, -2}, 1);
  expect_cast_sum<float, bool>({0, 0}, 0);
  expect_cast_sum<uint8_t, bool>({0, 256 / 2}, 1);
  expect_cast_sum<bool, float16>({1, 1, 1}, 3);
  expect_cast_sum<int32_t, uint8_t>({255, 2}, 1);
  // 257 rounds to 256 in bfloat16, and 2049 to 2048 in float16.
  expect_cast_sum<float, bfloat16>({257, 257}, 512);
  expect_cast_sum<int32_t, float16>({2049, 2049}, 4096);
  expect_cast_sum<float16, bfloat16>({257, 257}, 512);
  // 2^24 + 1 rounds to 2^24 in float.
  expect_cast_sum<double, float>({16777217, 16777217}, 33554432);
  expect_cast_sum<int32_t, float>({16777217, 16777217}, 33554432);
  expect_cast_sum<int32_t, double>({16777217, 16777217}, 33554434);
  // Sums of the wider dtype are made in it: float would lose the 1s of a block.
  expect_cast_sum<float, double>({16777216, 1, 1, 1}, 16777219);
  expect_cast_sum<float16, double>({1024, 0x1p-20}, 1024 + 0x1p-20);
}

TEST(SumKernel, LongFloatSumsKeepTheirPrecision) {
  constexpr int64_t kCount = 1 << 22;
  DenseTensor x = DenseTensor::empty({{kCount / 4, 4}, DataType::FLOAT32}, CPUPlace());
  std::fill_n(x.mutable_data<float>(), kCount, 0.1f);
  DenseTensor out = blank<float>({});
  registered<kernels::sum, float>(KernelContext(), x, {}, &out);
  EXPECT_FLOAT_EQ(out.values<float>()[0], 0.1f * kCount);
  DenseTensor columns = blank<float>({4});
  registered<kernels::sum, float>(KernelContext(), x, {0}, &columns);
  for (float v : columns.values<float>()) EXPECT_FLOAT_EQ(v, 0.1f * (kCount / 4));
}

TEST(MeanKernel, FloatingDtypes) {
  check<float, float>(registered<kernels::mean, float>, mean_of, false);
  check<double, double>(registered<kernels::mean, double>, mean_of, false);
  check<float16, float16>(registered<kernels::mean, float16>, mean_of, false);
  check<bfloat16, bfloat16>(registered<kernels::mean, bfloat16>, mean_of, false);
}

double truncated_mean_of(const Values& values) { return std::trunc(mean_of(values)); }

TEST(MeanKernel, IntegersLoseTheirFraction) {
  DenseTensor out = blank<int32_t>({});
  registered<kernels::mean, int32_t>(KernelContext(), tensor<int32_t>({3, 4, 4}, {3}), {}, &out);
  EXPECT_EQ(to_doubles(out), Values{3});
  registered<kernels::mean, int32_t>(KernelContext(), tensor<int32_t>({-3, -4, -4}, {3}), {}, &out);
  EXPECT_EQ(to_doubles(out), Values{-3});
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  registered<kernels::mean, int32_t>(KernelContext(), tensor<int32_t>({kMost, kMost}, {2}), {},
                                     &out);
  EXPECT_EQ(to_doubles(out), Values{kMost});
  const Values xs = {7, -2, 9, 4, 4, 4, -5, 1, 1, 0, 0, 1};
  const Row row{{4, 3}, {0}};
  Values expected;
  for (const Values& group : groups(xs, row)) expected.push_back(truncated_mean_of(group));
  DenseTensor columns = blank<int64_t>({3});
  registered<kernels::mean, int64_t>(KernelContext(), tensor<int64_t>(xs, row.dims), row.axis,
                                     &columns);
  EXPECT_EQ(to_doubles(columns), expected);
}

// 3 + 4 over 5, and nothing on the last rank: neither part has a whole quotient.
TEST(MeanKernel, PartsOfIntegersAddUpToTheMean) {
  const Dims dims = {5};
  const Values xs = {1, 2, 1, 1, 2};
  Ranks ranks(3);
  Values total(1, 0);
  std::mutex mutex;
  ranks.run([&](int rank) {
    const int64_t begin = std::array{0, 3, 5}[rank], end = std::array{3, 5, 5}[rank];
    FakeView view;
    view.inputs = {part(dims, 0, begin, end)};
    view.ranks = &ranks;
    DenseTensor out = blank<int32_t>({});
    registered<kernels::mean, int32_t>(KernelContext(CPUPlace(), &view),
                                       tensor<int32_t>(cut(xs, dims, 0, begin, end), {end - begin}),
                                       {0}, &out);
    const std::lock_guard lock(mutex);
    total[0] += to_doubles(out)[0];
  });
  EXPECT_EQ(total, Values{1});
}

TEST(MeanKernel, UnevenShardsAddUpToTheMean) {
  const Dims dims = {5, 3};
  const Values xs = random_values(15, 9);
  Values total(3, 0);
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 5}, std::pair{5, 5}}) {
    FakeView view;
    view.inputs = {part(dims, 0, begin, end)};
    const DenseTensor x = tensor<double>(cut(xs, dims, 0, begin, end), {end - begin, 3});
    DenseTensor out = blank<double>({3});
    registered<kernels::mean, double>(KernelContext(CPUPlace(), &view), x, {0}, &out);
    for (int i = 0; i < 3; ++i) total[i] += to_doubles(out)[i];
  }
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int r = 0; r < 5; ++r) sum += xs[3 * r + i];
    EXPECT_NEAR(total[i], sum / 5, 1e-12);
  }
}

// Sums by the index that each element broadcasts from.
Values summed_to(const Values& x, const Dims& dims, const Dims& target) {
  Values sums(target.numel(), 0.0);
  const int added = dims.ndim() - target.ndim();
  const Dims from = dims.strides();
  const Dims to = target.strides();
  for (int64_t i = 0; i < dims.numel(); ++i) {
    int64_t at = 0;
    for (int d = 0; d < target.ndim(); ++d) {
      if (target[d] != 1) at += i / from[added + d] % dims[added + d] * to[d];
    }
    sums[at] += x[i];
  }
  return sums;
}

template <typename T>
void check_reduce_as() {
  struct Row {
    Dims x;
    Dims target;
  };
  const Row rows[] = {
      {{40, 1500}, {1500}},
      {{3, 4, 5}, {5}},
      {{3, 4, 5}, {4, 5}},
      {{3, 4, 5}, {1, 4, 1}},
      {{3, 4, 5}, {3, 1, 5}},
      {{3, 4, 5}, {3, 4, 1}},
      {{3, 4, 5}, {}},
      {{3, 4, 5}, {1, 1, 1}},
      {{3, 4, 5}, {3, 4, 5}},
      {{1, 1, 5}, {5}},
      {{0, 3}, {3}},
      {{0, 3}, {1, 3}},
      {{3, 0}, {3, 1}},
      {{2, 3, 2, 3}, {3, 1, 3}},
      {{}, {}},
  };
  for (const Row& row : rows) {
    const Values xs = random_values(row.x.numel(), 3);
    DenseTensor out = blank<T>(row.target);
    registered<kernels::reduce_as, T>(KernelContext(), tensor<T>(xs, row.x), &out);
    expect_close<T>(out, summed_to(xs, row.x, row.target),
                    row.x.to_string() + " to " + row.target.to_string());
  }
}

TEST(ReduceAsKernel, SumsWhatWasBroadcast) {
  check_reduce_as<float>();
  check_reduce_as<double>();
  check_reduce_as<bfloat16>();
  check_reduce_as<float16>();
}

TEST(ReduceAsKernel, SixteenBitSumsAreKeptInFloat) {
  DenseTensor out = blank<bfloat16>({2});
  registered<kernels::reduce_as, bfloat16>(KernelContext(),
                                           tensor<bfloat16>(Values(4096, 1.0), {2048, 2}), &out);
  EXPECT_EQ(to_doubles(out), Values(2, 2048.0));
}

template <typename T, typename Out>
void check_squared_norm() {
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{5}, Dims{3, 1100}}) {
    const Values xs = random_values(dims.numel(), 5, -2, 2);
    double sum = 0;
    for (double x : xs) sum += x * x;
    DenseTensor out = blank<Out>({1});
    registered<kernels::squared_l2_norm, T>(KernelContext(), tensor<T>(xs, dims), &out);
    expect_close<Out>(out, {sum}, dims.to_string());
  }
}

TEST(SquaredL2NormKernel, SumsSquaresOfEveryDtype) {
  check_squared_norm<float, float>();
  check_squared_norm<double, double>();
  check_squared_norm<bfloat16, float>();
  check_squared_norm<float16, float>();
}

TEST(SquaredL2NormKernel, SmallTermsAreNotLost) {
  Values xs(1 << 20, 1e-3);
  xs[0] = 1e3;
  DenseTensor out = blank<float>({1});
  registered<kernels::squared_l2_norm, float>(KernelContext(), tensor<float>(xs, {1 << 20}), &out);
  EXPECT_FLOAT_EQ(out.values<float>()[0], 1e6 + (1 << 20) * 1e-6);
}

TEST(MaxKernel, AllDtypes) {
  check<float, float>(registered<kernels::max, float>, max_of<float>, false);
  check<double, double>(registered<kernels::max, double>, max_of<double>, false);
  check<float16, float16>(registered<kernels::max, float16>, max_of<float>, false);
  check<bfloat16, bfloat16>(registered<kernels::max, bfloat16>, max_of<float>, false);
  check<uint8_t, uint8_t>(registered<kernels::max, uint8_t>, max_of<uint8_t>, true);
  check<int32_t, int32_t>(registered<kernels::max, int32_t>, max_of<int32_t>, true);
  check<bool, bool>(registered<kernels::max, bool>, max_of<bool>, true);
}

TEST(MaxKernel, NaNWinsWhereverItIs) {
  for (int64_t at : {0, 1, 31, 32, 63, 1023, 1024, 1999}) {
    Values xs = random_values(2000, 4);
    xs[at] = NAN;
    DenseTensor out = blank<float>({});
    registered<kernels::max, float>(KernelContext(), tensor<float>(xs, {2000}), {}, &out);
    EXPECT_TRUE(std::isnan(to_doubles(out)[0])) << at;
    DenseTensor columns = blank<float>({2});
    registered<kernels::max, float>(KernelContext(), tensor<float>(xs, {1000, 2}), {0}, &columns);
    EXPECT_TRUE(std::isnan(to_doubles(columns)[at % 2])) << at;
  }
}

// Indices of the largest element of each of `groups`, the first of equals.
Values first_largest(const std::vector<Values>& groups) {
  Values out;
  for (const Values& group : groups) {
    out.push_back(
        static_cast<double>(std::max_element(group.begin(), group.end()) - group.begin()));
  }
  return out;
}

template <typename T>
void check_argmax() {
  for (const Row& row : rows()) {
    if (row.axis.size() != 1 || row.dims.numel() == 0) continue;
    Values xs = random_values(row.dims.numel(), 6, 0, 9);
    for (double& v : xs) v = std::round(v);  // has ties
    DenseTensor out = blank<int64_t>(ReduceInferMeta({row.dims}, row.axis, false).dims);
    registered<kernels::argmax, T>(KernelContext(), tensor<T>(xs, row.dims), row.axis[0], false,
                                   &out);
    EXPECT_EQ(to_doubles(out), first_largest(groups(xs, row))) << row.dims.to_string();
    DenseTensor flat = blank<int32_t>({});
    registered<kernels::argmax, T>(KernelContext(), tensor<T>(xs, row.dims), row.axis[0], true,
                                   &flat);
    EXPECT_EQ(to_doubles(flat), first_largest({xs})) << row.dims.to_string();
  }
}

// Rows run side by side, and long ones block by block: each as if it were alone.
template <typename T>
void expect_rows_alone(int64_t n) {
  constexpr int64_t kRows = 7;
  const Dims dims{kRows, n};
  const Values xs = random_values(dims.numel(), 5);
  const auto reduce = [&](auto kernel, const char* name) {
    DenseTensor whole = blank<T>({kRows});
    kernel(tensor<T>(xs, dims), &whole);
    for (int64_t r = 0; r < kRows; ++r) {
      DenseTensor alone = blank<T>({1});
      kernel(tensor<T>(Values(xs.begin() + r * n, xs.begin() + (r + 1) * n), {1, n}), &alone);
      EXPECT_EQ(to_doubles(alone)[0], to_doubles(whole)[r]) << name << " of " << n << ", row " << r;
    }
  };
  const auto rows = [](auto kernel) {
    return [kernel](const DenseTensor& x, DenseTensor* out) {
      kernel(KernelContext(), x, IntArray({1}), out);
    };
  };
  reduce(rows(registered<kernels::sum, T>), "sum");
  reduce(rows(registered<kernels::max, T>), "max");
  reduce(
      [](const DenseTensor& x, DenseTensor* out) {
        registered<kernels::prod, T>(KernelContext(), x, IntArray({1}), false, out);
      },
      "prod");
}

TEST(ReduceKernels, ARowsResultDoesNotDependOnItsNeighbours) {
  for (const int64_t n : {1, 31, 32, 33, 64, 700, 1024, 1025, 5000}) {
    expect_rows_alone<float>(n);
    expect_rows_alone<double>(n);
    expect_rows_alone<bfloat16>(n);
  }
}

// Infinities of both signs add up to NaN without being one.
TEST(MaxKernel, InfinitiesOfBothSignsAreNumbers) {
  constexpr int64_t kCount = 2100;
  Values xs = random_values(3 * kCount, 4);
  for (int64_t r = 0; r < 3; ++r) {
    xs[r * kCount + 40] = INFINITY;
    xs[r * kCount + 70] = -INFINITY;
  }
  const DenseTensor x = tensor<float>(xs, {3, kCount});
  DenseTensor most = blank<float>({3}), least = blank<float>({3});
  registered<kernels::max, float>(KernelContext(), x, IntArray({1}), &most);
  registered<kernels::min, float>(KernelContext(), x, IntArray({1}), &least);
  EXPECT_EQ(to_doubles(most), Values(3, INFINITY));
  EXPECT_EQ(to_doubles(least), Values(3, -INFINITY));
}

TEST(ArgMaxKernel, TakesTheFirstOfEquals) {
  check_argmax<float>();
  check_argmax<double>();
  check_argmax<float16>();
  check_argmax<bfloat16>();
  check_argmax<int32_t>();
  check_argmax<uint8_t>();
}

TEST(ArgMaxKernel, IntegersWhoseSumIsNone) {
  Values xs(64, 1 << 30);  // signed overflow: UBSan looks on
  xs[40] = xs[41] = (1 << 30) + 1;
  DenseTensor out = blank<int64_t>({});
  registered<kernels::argmax, int32_t>(KernelContext(), tensor<int32_t>(xs, {64}), 0, false, &out);
  EXPECT_EQ(to_doubles(out), Values{40});
}

TEST(ArgMaxKernel, TakesTheFirstNaNAndTheOnlyElementOfAScalar) {
  DenseTensor out = blank<int64_t>({});
  registered<kernels::argmax, float>(KernelContext(), tensor<float>({1, 5, NAN, 9, NAN}, {5}), -1,
                                     false, &out);
  EXPECT_EQ(to_doubles(out)[0], 2);
  registered<kernels::argmax, float>(KernelContext(), tensor<float>({3}, {}), 0, false, &out);
  EXPECT_EQ(to_doubles(out)[0], 0);
  registered<kernels::argmax, float>(KernelContext(), tensor<float>({-INFINITY, -INFINITY}, {2}), 0,
                                     false, &out);
  EXPECT_EQ(to_doubles(out)[0], 0);
}

}  // namespace
}  // namespace phi::testing
