// softmax along every axis against double-precision sums, its gradient against differences.
#include "phi/kernels/softmax_kernel.h"

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
      SoftmaxKernel<T>(CpuContext(), xt, axis, &out);
      expect_close<T>(out, softmax_oracle(x, dims, axis < 0 ? axis + dims.ndim() : axis),
                      dims.to_string() + " axis " + std::to_string(axis));
      DenseTensor same = xt.clone();
      SoftmaxKernel<T>(CpuContext(), same, axis, &same);
      EXPECT_EQ(to_doubles(same), to_doubles(out)) << "in place";
    }
  }
}

TEST(SoftmaxKernel, LargeAndMaskedLogits) {
  const DenseTensor x = tensor<float>({1e30, 1e30, -INFINITY, -1e30}, {1, 4});
  DenseTensor out = blank<float>({1, 4});
  SoftmaxKernel<float>(CpuContext(), x, 1, &out);
  EXPECT_EQ(to_doubles(out), Values({0.5, 0.5, 0, 0}));
}

TEST(SoftmaxKernel, OneElementOfNoTensorDims) {
  DenseTensor out = blank<float>({});
  SoftmaxKernel<float>(CpuContext(), tensor<float>({3}, {}), -1, &out);
  EXPECT_EQ(to_doubles(out), Values({1}));
}

struct Softmax {
  int axis;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = blank<T>(in[0].dims());
    SoftmaxKernel<T>(CpuContext(), in[0], axis, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors&, const DenseTensor& out, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(out.dims())};
    SoftmaxGradKernel<T>(CpuContext(), out, out_grad, axis, &grads[0]);
    DenseTensor same = out_grad.clone();
    SoftmaxGradKernel<T>(CpuContext(), out, same, axis, &same);
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
        SoftmaxKernel<float>(CpuContext(), tensor<float>(row, {1, n}), -1, &out);
        for (const double share : to_doubles(out)) {
          EXPECT_TRUE(std::isnan(share)) << n << " elements, NaN at " << at << ", rest " << other;
        }
      }
    }
  }
}

}  // namespace
}  // namespace phi::testing
