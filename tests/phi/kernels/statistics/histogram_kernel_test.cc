// histogram against the definition of its bins, element by element: at their edges, beyond them,
// and where the way to a bin overflows.
#include <algorithm>
#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/functors/bins.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename T>
void check(const Values& values, int64_t bins, int min, int max) {
  using C = compute_t<T>;
  const DenseTensor x = tensor<T>(values, {static_cast<int64_t>(values.size())});
  const Values held = to_doubles(x);
  C least = static_cast<C>(min);
  C most = static_cast<C>(max);
  if (min == max) {
    least = static_cast<C>(*std::min_element(held.begin(), held.end()));
    most = static_cast<C>(*std::max_element(held.begin(), held.end()));
  }
  const auto range = BinRange<C>::of(least, most);
  Values expected(bins, 0.0);
  for (const double value : held) {
    if (range.holds(static_cast<C>(value))) ++expected[range.bin(static_cast<C>(value), bins)];
  }
  DenseTensor out = blank<int64_t>({bins});
  registered<kernels::histogram, T>(KernelContext(), x, nullptr, bins, min, max, false, &out);
  EXPECT_EQ(to_doubles(out), expected) << bins << " from " << min << " to " << max;
}

template <typename T>
void check_all() {
  for (const int64_t n : {1, 7, 255, 256, 257, 1000}) {
    const Values values = random_values(n, static_cast<uint32_t>(n), -4, 4);
    for (const int64_t bins : {1, 2, 10, 100, 1000}) {
      check<T>(values, bins, -3, 3);
      check<T>(values, bins, 0, 1);
      check<T>(values, bins, 0, 0);
    }
  }
}

TEST(HistogramKernel, CountsWhatEachBinHolds) {
  check_all<float>();
  check_all<double>();
  check_all<float16>();
  check_all<bfloat16>();
  check_all<int32_t>();
  check_all<int64_t>();
}

TEST(HistogramKernel, NanAndInfinityHaveNoBin) {
  Values values = random_values(300, 3, -2, 2);
  values[5] = std::numeric_limits<double>::quiet_NaN();
  values[150] = std::numeric_limits<double>::infinity();
  values[299] = -std::numeric_limits<double>::infinity();
  check<float>(values, 10, -1, 1);
  check<double>(values, 10, -1, 1);
}

// x - least is no float, or not times the number of bins.
TEST(HistogramKernel, WideRangesHaveTheirBins) {
  Values values = random_values(300, 4, -2, 2);
  for (double& v : values) v *= 1.5e38;
  check<float>(values, 10, 0, 0);
  for (double& v : values) v *= 0.1;
  check<float>(values, 1000, 0, 0);
}

TEST(HistogramKernel, WeightsAreAddedUp) {
  const DenseTensor x = tensor<float>({0, 0.5, 1, 2.5, 3, 9}, {6});
  const DenseTensor weight = tensor<float>({1, 2, 4, 8, 16, 32}, {6});
  DenseTensor out = blank<float>({3});
  registered<kernels::histogram, float>(KernelContext(), x, &weight, 3, 0, 3, false, &out);
  EXPECT_EQ(to_doubles(out), (Values{3, 4, 24}));
}

}  // namespace
}  // namespace phi::testing
