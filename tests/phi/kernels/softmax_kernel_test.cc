// softmax along every axis against double-precision sums, its gradient against differences.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/normalisation.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

Values softmax_oracle(const Values& x, const Dims& dims, int at) {
  const int64_t n = dims[at];
  const int64_t inner = dims.numel(at + 1, dims.ndim());
  Values out(x.size());
  for (int64_t o = 0; o < dims.numel(0, at); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += std::exp(x[(o * n + k) * inner + i]);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t e = (o * n + k) * inner + i;
        out[e] = std::exp(x[e]) / sum;
      }
    }
  }
  return out;
}

template <typename T>
class SoftmaxKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(SoftmaxKernelTest, Floats);

TYPED_TEST(SoftmaxKernelTest, EveryAxis) {
  using T = TypeParam;
  for (const Dims& dims :
       {Dims{3, 75}, Dims{2, 5, 70}, Dims{7}, Dims{2, 1, 3}, Dims{0, 4}, Dims{4, 0}}) {
    for (int axis = -dims.ndim(); axis < dims.ndim(); ++axis) {
      const Values x = random_values(dims.numel(), 1, -6, 6);
      const DenseTensor xt = tensor<T>(x, dims);
      DenseTensor out = blank_like(SoftmaxInferMeta(xt.meta(), axis));
      registered<kernels::softmax, T>(KernelContext(), xt, axis, &out);
      expect_close<T>(out, softmax_oracle(x, dims, axis < 0 ? axis + dims.ndim() : axis),
                      dims.to_string() + " axis " + std::to_string(axis));
      DenseTensor same = xt.clone();
      registered<kernels::softmax, T>(KernelContext(), same, axis, &same);
      EXPECT_EQ(to_doubles(same), to_doubles(out)) << "in place";
    }
  }
}

TEST(SoftmaxKernel, LargeAndMaskedLogits) {
  const DenseTensor x = tensor<float>({1e30, 1e30, -INFINITY, -1e30}, {1, 4});
  DenseTensor out = blank<float>({1, 4});
  registered<kernels::softmax, float>(KernelContext(), x, 1, &out);
  EXPECT_EQ(to_doubles(out), Values({0.5, 0.5, 0, 0}));
}

TEST(SoftmaxKernel, OneElementOfNoTensorDims) {
  DenseTensor out = blank<float>({});
  registered<kernels::softmax, float>(KernelContext(), tensor<float>({3}, {}), -1, &out);
  EXPECT_EQ(to_doubles(out), Values({1}));
}

struct Softmax {
  int axis;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = blank<T>(in[0].dims());
    registered<kernels::softmax, T>(KernelContext(), in[0], axis, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors&, const DenseTensor& out, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(out.dims())};
    registered<kernels::softmax_grad, T>(KernelContext(), out, out_grad, axis, &grads[0]);
    DenseTensor same = out_grad.clone();
    registered<kernels::softmax_grad, T>(KernelContext(), out, same, axis, &same);
    EXPECT_EQ(to_doubles(same), to_doubles(grads[0])) << "in place";
    return grads;
  }
};

TEST(SoftmaxGradKernel, EqualsFiniteDifferencesAlongEveryAxis) {
  for (const Dims& dims : {Dims{3, 37}, Dims{2, 3, 70}, Dims{2, 1, 3}, Dims{0, 4}, Dims{4, 0}}) {
    for (int axis = -dims.ndim(); axis < dims.ndim(); ++axis) {
      check_gradients(Softmax{axis}, {{dims, -2, 2}},
                      dims.to_string() + " axis " + std::to_string(axis));
    }
  }
  check_gradients(Softmax{-1}, {{{}}}, "0-D");
}

TEST(SoftmaxKernel, NanAnywhereMakesItsRowNan) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const int64_t n : {5, 70}) {
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      for (const double other : {1.0, -inf, inf, nan}) {
        Values row(n, other);
        row[at] = nan;
        DenseTensor out = blank<float>({1, n});
        registered<kernels::softmax, float>(KernelContext(), tensor<float>(row, {1, n}), -1, &out);
        for (const double share : to_doubles(out)) {
          EXPECT_TRUE(std::isnan(share)) << n << " elements, NaN at " << at << ", rest " << other;
        }
      }
    }
  }
}

// A softmax row in double, shifted by its maximum: NaN and infinities come out as they do there.
Values softmax_row(const Values& row) {
  double most = -INFINITY, sum = 0;
  for (double v : row) most = v > most ? v : most;
  for (double v : row) sum += std::exp(v - most);
  Values out;
  for (double v : row) out.push_back(std::exp(v - most) / sum);
  return out;
}

// Along the last tensor dim, and down the columns of the transpose.
template <typename T>
void expect_softmax_rows(const std::vector<Values>& rows, const std::string& what) {
  const auto m = static_cast<int64_t>(rows.size()), n = static_cast<int64_t>(rows[0].size());
  Values x, columns(m * n), expected;
  for (const Values& row : rows) {
    x.insert(x.end(), row.begin(), row.end());
    const Values shares = softmax_row(row);
    expected.insert(expected.end(), shares.begin(), shares.end());
  }
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n; ++c) columns[c * m + r] = rows[r][c];
  }
  DenseTensor out = blank<T>({m, n}), down = blank<T>({n, m});
  registered<kernels::softmax, T>(KernelContext(), tensor<T>(x, {m, n}), -1, &out);
  registered<kernels::softmax, T>(KernelContext(), tensor<T>(columns, {n, m}), 0, &down);
  expect_close<T>(out, expected, what);
  const Values got = to_doubles(down);
  Values back(m * n);
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n; ++c) back[r * n + c] = got[c * m + r];
  }
  expect_close(back, expected, tolerance<T>(), what + " down columns");
}

TYPED_TEST(SoftmaxKernelTest, MaskedAndRareRows) {
  using T = TypeParam;
  for (const int64_t n : {1, 2, 31, 33, 65}) {
    for (const RareMask& mask : rare_masks(5, n)) {
      std::vector<Values> rows;
      for (int64_t r = 0; r < 5; ++r) {
        rows.push_back(random_values(n, 1 + static_cast<uint32_t>(r), -6, 6));
        for (int64_t c = 0; c < n; ++c) {
          if (mask.hidden[r * n + c]) rows.back()[c] = -INFINITY;
        }
      }
      expect_softmax_rows<T>(rows, mask.name);
    }
    std::vector<Values> odd;
    for (double v : rare_floats<T>()) {
      for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
        odd.push_back(random_values(n, 9, -2, 2));
        odd.back()[at] = v;
      }
    }
    expect_softmax_rows<T>(odd, "one rare number");
  }
}

// A row that was NaN has NaN gradients, and so has no other row; a sure row has none.
TEST(SoftmaxGradKernel, RareRowsKeepToThemselves) {
  const int64_t n = 33;
  Values out(3 * n, 0.0), g(3 * n, 2.0);
  std::fill_n(out.begin(), n, NAN);
  out[n + 5] = 1;
  std::fill_n(out.begin() + 2 * n, n, 1.0 / static_cast<double>(n));
  g[n] = 1e30;  // has no share
  DenseTensor grad = blank<float>({3, n});
  registered<kernels::softmax_grad, float>(KernelContext(), tensor<float>(out, {3, n}),
                                           tensor<float>(g, {3, n}), -1, &grad);
  const Values got = to_doubles(grad);
  for (int64_t c = 0; c < n; ++c) {
    EXPECT_TRUE(std::isnan(got[c]));
    EXPECT_EQ(got[n + c], 0);
    EXPECT_NEAR(got[2 * n + c], 0, 1e-6);
  }
}

}  // namespace
}  // namespace phi::testing
