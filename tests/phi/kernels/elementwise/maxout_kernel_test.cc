// maxout and its gradient in every type, against a loop over one place at a time: the first of
// equal ones has the gradient, and the first NaN.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/activation.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename T>
class MaxOutKernelOf : public ::testing::Test {};
using MaxOutTypes = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(MaxOutKernelOf, MaxOutTypes);

/// [rows, groups, inner]: whole numbers, many alike, and some NaN.
Values drawn(int64_t rows, int64_t groups, int64_t inner) {
  Values x(static_cast<size_t>(rows * groups * inner));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 23 == 5 ? NAN : static_cast<double>(i * 7 % 5) - 2;
  }
  return x;
}

void expect_same(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << i << ": " << got[i] << " for " << expected[i];
  }
}

TYPED_TEST(MaxOutKernelOf, TheFirstOfTheLargestHasTheGradient) {
  using T = TypeParam;
  for (const int64_t inner : {1, 3, 40, 1030}) {
    for (const int groups : {1, 2, 5}) {
      constexpr int64_t kRows = 4;
      const Values x = drawn(kRows, groups, inner);
      Values out, out_grad, x_grad(x.size());
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t i = 0; i < inner; ++i) {
          const auto at = [&](int64_t g) {
            return static_cast<size_t>((r * groups + g) * inner + i);
          };
          int64_t best = 0;
          for (int64_t g = 1; g < groups && !std::isnan(x[at(best)]); ++g) {
            if (x[at(g)] > x[at(best)] || std::isnan(x[at(g)])) best = g;
          }
          out.push_back(x[at(best)]);
          out_grad.push_back(static_cast<double>(out.size() % 7 + 1));
          x_grad[at(best)] = out_grad.back();
        }
      }
      const Dims x_dims{kRows * groups, inner}, dims{kRows, inner};
      const DenseTensor given = tensor<T>(x, x_dims);
      DenseTensor got = blank<T>(dims), gradient = blank<T>(x_dims);
      registered<kernels::maxout, T>(KernelContext(), given, groups, 0, &got);
      expect_same(to_doubles(got), out);
      registered<kernels::maxout_grad, T>(KernelContext(), given, got, tensor<T>(out_grad, dims),
                                          groups, 0, &gradient);
      expect_same(to_doubles(gradient), x_grad);
    }
  }
}

}  // namespace
}  // namespace phi::testing
