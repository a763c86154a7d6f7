// Scans against loops over one line at a time: rows and columns, shorter and longer than the blocks
// that 16-bit floats are converted in, from both ends.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/scan.h"
#include "phi/generated/kernels/sort.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

/// Lines of n elements along `axis` of [outer, n, inner].
struct Lines {
  int64_t outer, n, inner;
  Dims dims() const { return inner == 1 ? Dims{outer, n} : Dims{outer, n, inner}; }
  /// f(place of the first element) for each line.
  template <typename F>
  void for_each(F f) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) f(o * n * inner + i);
    }
  }
};

constexpr Lines kLines[] = {{1, 1, 1},    {3, 7, 1},   {4, 512, 1}, {9, 1100, 1},
                            {1, 40, 300}, {2, 33, 70}, {1, 600, 5}, {6, 513, 2}};

template <typename T>
DenseTensor drawn(const Dims& dims) {
  const Values values = random_values(dims.numel(), 1);
  DenseTensor x = blank<T>(dims);
  for (int64_t i = 0; i < x.numel(); ++i) {
    x.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(1 + values[i] / 8));
  }
  return x;
}

template <typename T>
std::vector<T> elements(const DenseTensor& x) {
  return {x.data<T>(), x.data<T>() + x.numel()};
}

template <typename T>
class ScanKernelOf : public ::testing::Test {};
using ScanTypes = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(ScanKernelOf, ScanTypes);

/// `scan(x, exclusive, reverse, out)` carries doubles, and rounds each result.
template <typename T, typename Join, typename Scan>
void expect_scans(double start, Join join, Scan scan) {
  using C = compute_t<T>;
  for (const Lines& lines : kLines) {
    const DenseTensor x = drawn<T>(lines.dims());
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        std::vector<T> expected(static_cast<size_t>(x.numel()));
        lines.for_each([&](int64_t first) {
          double so_far = start;
          for (int64_t done = 0; done < lines.n; ++done) {
            const int64_t at = first + (reverse ? lines.n - 1 - done : done) * lines.inner;
            const double joined =
                join(so_far, static_cast<double>(static_cast<C>(x.data<T>()[at])));
            expected[at] = static_cast<T>(static_cast<C>(exclusive ? so_far : joined));
            so_far = joined;
          }
        });
        DenseTensor out = blank<T>(lines.dims());
        scan(x, exclusive, reverse, &out);
        EXPECT_EQ(elements<T>(out), expected)
            << x.meta().to_string() << (exclusive ? " exclusive" : "")
            << (reverse ? " reverse" : "");
      }
    }
  }
}

TYPED_TEST(ScanKernelOf, Sums) {
  using T = TypeParam;
  expect_scans<T>(
      0, [](double a, double b) { return a + b; },
      [](const DenseTensor& x, bool exclusive, bool reverse, DenseTensor* out) {
        registered<kernels::cumsum, T>(KernelContext(), x, Scalar(int64_t{1}), false, exclusive,
                                       reverse, out);
      });
}

TYPED_TEST(ScanKernelOf, Products) {
  using T = TypeParam;
  expect_scans<T>(
      1, [](double a, double b) { return a * b; },
      [](const DenseTensor& x, bool exclusive, bool reverse, DenseTensor* out) {
        registered<kernels::cumprod, T>(KernelContext(), x, 1, exclusive, reverse, out);
      });
}

TYPED_TEST(ScanKernelOf, BestSoFar) {
  using T = TypeParam;
  using C = compute_t<T>;
  for (const Lines& lines : kLines) {
    const DenseTensor x = drawn<T>(lines.dims());
    std::vector<T> expected(static_cast<size_t>(x.numel()));
    std::vector<int64_t> places(expected.size());
    lines.for_each([&](int64_t first) {
      int64_t best = 0;
      for (int64_t k = 0; k < lines.n; ++k) {
        const auto value = [&](int64_t i) {
          return static_cast<C>(x.data<T>()[first + i * lines.inner]);
        };
        if (value(k) >= value(best)) best = k;
        expected[first + k * lines.inner] = x.data<T>()[first + best * lines.inner];
        places[first + k * lines.inner] = best;
      }
    });
    DenseTensor out = blank<T>(lines.dims()), indices = blank<int64_t>(lines.dims());
    registered<kernels::cummax, T>(KernelContext(), x, 1, &out, &indices);
    EXPECT_EQ(elements<T>(out), expected) << x.meta().to_string();
    EXPECT_EQ(elements<int64_t>(indices), places) << x.meta().to_string();
  }
}

}  // namespace
}  // namespace phi::testing
