// Reductions of rare numbers: NaN, infinities and zeros anywhere in a row, and the ends of dtypes.
#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/reduction.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

// The largest; NaN wins.
double nan_or_max(const Values& values) {
  double max = -INFINITY;
  for (double v : values) {
    if (std::isnan(v)) return NAN;
    max = std::max(max, v);
  }
  return max;
}
double squares_of(const Values& values) {
  double sum = 0;
  for (double v : values) sum += v * v;
  return sum;
}

template <typename T>
using ReduceKernelOf = void (*)(const KernelContext&, const DenseTensor&, const IntArray&,
                                DenseTensor*);

// Both loops: along rows, and down the columns of the same rows.
template <typename T>
void expect_row_reduced(ReduceKernelOf<T> kernel, const Values& row, double expected, double steps,
                        const std::string& what) {
  const auto n = static_cast<int64_t>(row.size());
  constexpr int64_t kColumns = 3;
  Values rows, columns;
  for (int64_t c = 0; c < kColumns; ++c) rows.insert(rows.end(), row.begin(), row.end());
  for (double v : row) columns.insert(columns.end(), kColumns, v);
  DenseTensor out = blank<T>({kColumns});
  kernel(KernelContext(), tensor<T>(rows, {kColumns, n}), {1}, &out);
  for (double got : to_doubles(out)) expect_steps<T>(got, expected, steps, what + " along a row");
  kernel(KernelContext(), tensor<T>(columns, {n, kColumns}), {0}, &out);
  for (double got : to_doubles(out)) expect_steps<T>(got, expected, steps, what + " down columns");
}

// One odd number in a row of halves, at the ends of vectors and blocks and in what is left over.
template <typename T>
void check_odd_numbers() {
  for (const int64_t n : {1, 2, 31, 33, 64, 95, 1023, 1025, 2050}) {
    for (const int64_t at : places_in_row(n)) {
      for (const double odd : {double{NAN}, double{INFINITY}, double{-INFINITY}, double{-0.0}}) {
        Values row(n, 0.5);
        row[at] = odd;
        const std::string what =
            std::to_string(odd) + " at " + std::to_string(at) + " of " + std::to_string(n);
        expect_row_reduced<T>(registered<kernels::sum, T>, row, sum_of(row), 2, "sum with " + what);
        expect_row_reduced<T>(registered<kernels::mean, T>, row, mean_of(row), 2,
                              "mean with " + what);
        expect_row_reduced<T>(registered<kernels::max, T>, row, nan_or_max(row), 0,
                              "max with " + what);
        DenseTensor norm = blank<std::conditional_t<std::is_same_v<T, double>, double, float>>({});
        registered<kernels::squared_l2_norm, T>(KernelContext(), tensor<T>(row, {n}), &norm);
        expect_steps<float>(to_doubles(norm)[0], squares_of(row), 2, "norm with " + what);
        DenseTensor as = blank<T>({1});
        registered<kernels::reduce_as, T>(KernelContext(), tensor<T>(row, {n, 1}), &as);
        expect_steps<T>(to_doubles(as)[0], sum_of(row), 2, "reduce_as with " + what);
      }
    }
  }
}

TEST(ReduceKernels, OneNanInfinityOrZeroAnywhereInARow) {
  check_odd_numbers<float>();
  check_odd_numbers<double>();
  check_odd_numbers<float16>();
  check_odd_numbers<bfloat16>();
}

// Sums that overflow, cancel or vanish in T are those of double, rounded once.
template <typename T>
void check_rare_pairs() {
  for (const double a : rare_floats<T>()) {
    for (const double b : rare_floats<T>()) {
      const Values pair = {a, b};
      const std::string what = std::to_string(a) + " and " + std::to_string(b);
      DenseTensor out = blank<T>({});
      registered<kernels::max, T>(KernelContext(), tensor<T>(pair, {2}), {}, &out);
      expect_steps<T>(to_doubles(out)[0], nan_or_max(pair), 0, "max of " + what);
      registered<kernels::sum, T>(KernelContext(), tensor<T>(pair, {2}), {}, &out);
      expect_steps<T>(to_doubles(out)[0], a + b, 1, "sum of " + what);
      DenseTensor index = blank<int64_t>({});
      registered<kernels::argmax, T>(KernelContext(), tensor<T>(pair, {2}), 0, false, &index);
      const double first = std::isnan(a) || a >= b ? 0 : 1;
      EXPECT_EQ(to_doubles(index)[0], std::isnan(b) && !std::isnan(a) ? 1 : first) << what;
    }
  }
}

TEST(ReduceKernels, PairsOfRareFloats) {
  check_rare_pairs<float>();
  check_rare_pairs<double>();
  check_rare_pairs<float16>();
  check_rare_pairs<bfloat16>();
}

template <typename T>
void check_rare_integers() {
  const std::vector<T> list = rare_integers<T>();
  std::vector<T> xs;
  for (T a : list) {
    for (T b : list) xs.insert(xs.end(), {a, b});
  }
  const auto pairs = static_cast<int64_t>(xs.size() / 2);
  const DenseTensor x = DenseTensor::from<T>(xs, {pairs, 2});
  DenseTensor sums = blank<int64_t>({pairs}), most = blank<T>({pairs}),
              where = blank<int64_t>({pairs});
  registered<kernels::sum, T>(KernelContext(), x, {1}, &sums);
  registered<kernels::max, T>(KernelContext(), x, {1}, &most);
  registered<kernels::argmax, T>(KernelContext(), x, 1, false, &where);
  for (int64_t i = 0; i < pairs; ++i) {
    const T a = xs[2 * i], b = xs[2 * i + 1];
    const auto wrapped = static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
    EXPECT_EQ(sums.values<int64_t>()[i], static_cast<int64_t>(wrapped)) << +a << " + " << +b;
    EXPECT_EQ(most.values<T>()[i], std::max(a, b));
    EXPECT_EQ(where.values<int64_t>()[i], a >= b ? 0 : 1);
  }
}

TEST(ReduceKernels, PairsOfRareIntegers) {
  check_rare_integers<uint8_t>();
  check_rare_integers<int32_t>();
  DenseTensor most = blank<int64_t>({});
  for (int64_t value : rare_integers<int64_t>()) {  // doubles do not hold them all
    const int64_t pair[] = {std::numeric_limits<int64_t>::min(), value};
    registered<kernels::max, int64_t>(KernelContext(), DenseTensor::from<int64_t>(pair, {2}), {},
                                      &most);
    EXPECT_EQ(most.values<int64_t>()[0], value);
  }
  check_rare_integers<int64_t>();
}

// What argmax finds in a row and down columns that are longer than a block.
TEST(ArgMaxKernel, FirstNanOrLargestAnywhere) {
  for (const int64_t n : {1, 33, 1025}) {
    for (const int64_t at : places_in_row(n)) {
      for (const double odd : {double{NAN}, double{INFINITY}, 3.0}) {
        Values row(n, -INFINITY), columns;
        row[at] = odd;
        if (at + 1 < n) row[n - 1] = std::isnan(odd) ? INFINITY : odd;  // a later equal or more
        for (double v : row) columns.insert(columns.end(), {v, v});
        DenseTensor index = blank<int64_t>({});
        registered<kernels::argmax, float>(KernelContext(), tensor<float>(row, {n}), 0, false,
                                           &index);
        EXPECT_EQ(to_doubles(index)[0], at) << odd;
        DenseTensor both = blank<int64_t>({2});
        registered<kernels::argmax, float>(KernelContext(), tensor<float>(columns, {n, 2}), 0,
                                           false, &both);
        EXPECT_EQ(to_doubles(both), Values(2, static_cast<double>(at))) << odd;
      }
    }
  }
}

}  // namespace
}  // namespace phi::testing
