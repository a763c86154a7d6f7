// layer_norm and rms_norm against double-precision formulas.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/normalisation.h"
#include "phi/infermeta/normalisation.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename T>
class NormalisationKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(NormalisationKernelTest, Floats);

struct LayerNormOracle {
  Values out, mean, variance;
  LayerNormOracle(const Values& x, int64_t n, const Values& scale, const Values& bias,
                  double epsilon) {
    for (size_t start = 0; n > 0 && start < x.size(); start += n) {
      double sum = 0;
      double squares = 0;
      for (int64_t i = 0; i < n; ++i) sum += x[start + i];
      const double m = sum / n;
      for (int64_t i = 0; i < n; ++i) squares += (x[start + i] - m) * (x[start + i] - m);
      mean.push_back(m);
      variance.push_back(squares / n);
      for (int64_t i = 0; i < n; ++i) {
        double y = (x[start + i] - m) / std::sqrt(squares / n + epsilon);
        if (!scale.empty()) y *= scale[i];
        if (!bias.empty()) y += bias[i];
        out.push_back(y);
      }
    }
  }
};

TYPED_TEST(NormalisationKernelTest, LayerNorm) {
  using T = TypeParam;
  const std::pair<Dims, int> cases[] = {{{3, 70}, 1}, {{2, 3, 5}, 1}, {{2, 3, 5}, 2}, {{4, 1}, 1}};
  for (const auto& [dims, axis] : cases) {
    const int64_t n = dims.numel(axis, dims.ndim());
    const Values x = random_values(dims.numel(), 1, 3, 5);
    for (int weights = 0; weights < 4; ++weights) {  // bit 0: scale, bit 1: bias
      const Values scale = random_values(n, 2, 0.5, 1.5);
      const Values bias = random_values(n, 3);
      const DenseTensor xt = tensor<T>(x, dims);
      const DenseTensor st = tensor<T>(scale, {n});
      const DenseTensor bt = tensor<compute_t<T>>(bias, {n});  // float32 beside 16-bit x
      const auto [om, mm, vm] = LayerNormInferMeta(xt.meta(), &st.meta(), &bt.meta(), 1e-5f, axis);
      DenseTensor out = blank_like(om);
      DenseTensor mean = blank_like(mm);
      DenseTensor variance = blank_like(vm);
      registered<kernels::layer_norm, T>(KernelContext(), xt, weights & 1 ? &st : nullptr,
                                         weights & 2 ? &bt : nullptr, 1e-5f, axis, &out, &mean,
                                         &variance);
      const LayerNormOracle oracle(x, n, weights & 1 ? scale : Values(),
                                   weights & 2 ? bias : Values(), 1e-5f);
      expect_close<T>(out, oracle.out, dims.to_string());
      expect_close<compute_t<T>>(mean, oracle.mean, "mean");
      expect_close<compute_t<T>>(variance, oracle.variance, "variance");
    }
  }
}

TYPED_TEST(NormalisationKernelTest, RmsNorm) {
  using T = TypeParam;
  for (const Dims& dims : {Dims{3, 70}, Dims{2, 3, 5}, Dims{4, 1}, Dims{8}}) {
    const int64_t n = dims.back();
    const Values x = random_values(dims.numel(), 1, -2, 3);
    const Values scale = random_values(n, 2, 0.5, 1.5);
    const DenseTensor xt = tensor<T>(x, dims);
    const DenseTensor st = tensor<T>(scale, {n});
    const auto [om, im] = RmsNormInferMeta(xt.meta(), st.meta(), 1e-6f);
    DenseTensor out = blank_like(om);
    DenseTensor invvar = blank_like(im);
    registered<kernels::rms_norm, T>(KernelContext(), xt, st, 1e-6f, &out, &invvar);
    Values y;
    Values inverses;
    for (size_t start = 0; start < x.size(); start += n) {
      double squares = 0;
      for (int64_t i = 0; i < n; ++i) squares += x[start + i] * x[start + i];
      inverses.push_back(1 / std::sqrt(squares / n + 1e-6f));
      for (int64_t i = 0; i < n; ++i) y.push_back(x[start + i] * inverses.back() * scale[i]);
    }
    expect_close<T>(out, y, dims.to_string());
    expect_close<compute_t<T>>(invvar, inverses, "invvar");
  }
}

TEST(LayerNormKernel, VarianceSurvivesALargeMean) {
  Values x(1000);
  for (int i = 0; i < 1000; ++i) x[i] = 1e4 + (i % 2);
  const DenseTensor xt = tensor<float>(x, {1, 1000});
  DenseTensor out = blank<float>({1, 1000});
  DenseTensor mean = blank<float>({1});
  DenseTensor variance = blank<float>({1});
  registered<kernels::layer_norm, float>(KernelContext(), xt, nullptr, nullptr, 0.0f, 1, &out,
                                         &mean, &variance);
  EXPECT_NEAR(to_doubles(variance)[0], 0.25, 1e-3);
}

TEST(NormalisationKernels, EmptyArrays) {
  DenseTensor out = blank<float>({0, 4});
  DenseTensor mean = blank<float>({0});
  registered<kernels::layer_norm, float>(KernelContext(), blank<float>({0, 4}), nullptr, nullptr,
                                         1e-5f, 1, &out, &mean, &mean);
  registered<kernels::rms_norm, float>(KernelContext(), blank<float>({0, 4}), blank<float>({4}),
                                       1e-5f, &out, &mean);
  DenseTensor flat = blank<float>({2, 0});
  DenseTensor two = blank<float>({2});
  registered<kernels::rms_norm, float>(KernelContext(), blank<float>({2, 0}), blank<float>({0}),
                                       1e-5f, &flat, &two);
}

// Constant rows have no variance and become the bias; one odd number spoils its row and no other.
TYPED_TEST(NormalisationKernelTest, ConstantAndRareRows) {
  using T = TypeParam;
  for (const int64_t n : {1, 2, 33, 65}) {
    for (const int64_t at : places_in_row(n)) {
      for (const double odd : {double{NAN}, double{INFINITY}, 0.75}) {
        Values x(3 * n, 0.75);
        x[n + at] = odd;
        const DenseTensor xt = tensor<T>(x, {3, n});
        const DenseTensor scale = tensor<T>(Values(n, 2.0), {n}),
                          bias = tensor<T>(Values(n, 0.5), {n});
        DenseTensor out = blank<T>({3, n}), rms = blank<T>({3, n}), mean = blank<compute_t<T>>({3}),
                    variance = mean.clone();
        registered<kernels::layer_norm, T>(KernelContext(), xt, &scale, &bias, 1e-5f, 1, &out,
                                           &mean, &variance);
        registered<kernels::rms_norm, T>(KernelContext(), xt, scale, 0.0f, &rms, &mean);
        const Values got = to_doubles(out), squares = to_doubles(rms);
        for (int64_t i = 0; i < 3 * n; ++i) {
          const bool spoilt = i / n == 1 && odd != 0.75;
          if (spoilt) {
            EXPECT_TRUE(std::isnan(got[i])) << odd;
            EXPECT_TRUE(std::isnan(squares[i]) || (std::isinf(odd) && squares[i] == 0)) << odd;
          } else {
            EXPECT_NEAR(got[i], 0.5, 1e-3) << "constant row of " << n;
            EXPECT_NEAR(squares[i], 2, 2 * tolerance<T>());
          }
        }
      }
    }
  }
}

TYPED_TEST(NormalisationKernelTest, ZeroRowsStayZero) {
  using T = TypeParam;
  for (const int64_t n : {1, 33}) {
    const DenseTensor x = tensor<T>(Values(2 * n, 0.0), {2, n}),
                      ones = tensor<T>(Values(n, 1), {n});
    DenseTensor out = blank<T>({2, n}), mean = blank<compute_t<T>>({2}), variance = mean.clone();
    registered<kernels::layer_norm, T>(KernelContext(), x, nullptr, nullptr, 1e-5f, 1, &out, &mean,
                                       &variance);
    EXPECT_EQ(to_doubles(out), Values(2 * n, 0.0));
    EXPECT_EQ(to_doubles(variance), Values(2, 0.0));
    registered<kernels::rms_norm, T>(KernelContext(), x, ones, 1e-6f, &out, &mean);
    EXPECT_EQ(to_doubles(out), Values(2 * n, 0.0));
  }
}

}  // namespace
}  // namespace phi::testing
