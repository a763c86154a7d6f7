// Gradients of layer_norm and rms_norm against differences of the forward kernels.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/normalisation.h"
#include "phi/infermeta/normalisation.h"
#include "tests/phi/kernels/finite_differences.h"

namespace phi::testing {
namespace {

constexpr float kEpsilon = 1e-3f;

struct LayerNorm {
  Dims dims;
  int axis;

  int64_t n() const { return dims.numel(axis, dims.ndim()); }
  Values x() const { return random_values(dims.numel(), 1, 1, 3); }
  Values scale() const { return random_values(n(), 2, 0.5, 1.5); }
  Values bias() const { return random_values(n(), 3); }
  Values out_grad() const { return random_values(dims.numel(), 4); }

  struct Forward {
    DenseTensor out, mean, variance;
  };
  template <typename T>
  Forward forward(const Values& x, const Values& scale, const Values& bias) const {
    const DenseTensor xt = tensor<T>(x, dims), st = tensor<T>(scale, {n()}),
                      bt = tensor<T>(bias, {n()});
    const auto [om, mm, vm] = LayerNormInferMeta(xt.meta(), &st.meta(), &bt.meta(), kEpsilon, axis);
    Forward f{blank_like(om), blank_like(mm), blank_like(vm)};
    registered<kernels::layer_norm, T>(KernelContext(), xt, &st, &bt, kEpsilon, axis, &f.out,
                                       &f.mean, &f.variance);
    return f;
  }
};

struct Wanted {
  bool x = true, scale = true, bias = true;
};

struct Gradients {
  DenseTensor x, scale, bias;
};

/// W is the dtype of scale and bias.
template <typename T, typename W = T>
Gradients layer_norm_gradients(const LayerNorm& p, const Wanted& wanted = {},
                               bool with_scale = true) {
  const Values scale = with_scale ? p.scale() : Values(p.n(), 1.0);
  const LayerNorm::Forward f = p.forward<T>(p.x(), scale, p.bias());
  const DenseTensor st = tensor<W>(scale, {p.n()});
  Gradients g{blank<T>(p.dims), blank<W>({p.n()}), blank<W>({p.n()})};
  registered<kernels::layer_norm_grad, T>(
      KernelContext(), tensor<T>(p.x(), p.dims), with_scale ? &st : nullptr, f.mean, f.variance,
      tensor<T>(p.out_grad(), p.dims), kEpsilon, p.axis, wanted.x ? &g.x : nullptr,
      wanted.scale ? &g.scale : nullptr, wanted.bias ? &g.bias : nullptr);
  return g;
}

const LayerNorm kCases[] = {
    {{3, 37}, 1}, {{2, 3, 5}, 1}, {{2, 3, 5}, 2}, {{4, 1}, 1}, {{1, 16}, 1}};

TEST(LayerNormGradKernel, EqualsFiniteDifferences) {
  for (const LayerNorm& p : kCases) {
    const Gradients g = layer_norm_gradients<double>(p);
    const auto out = [&](const Values& x, const Values& scale, const Values& bias) {
      return to_doubles(p.forward<double>(x, scale, bias).out);
    };
    expect_close(to_doubles(g.x),
                 finite_differences(p.x(), p.out_grad(),
                                    [&](const Values& x) { return out(x, p.scale(), p.bias()); }),
                 kDifferenceError, "x_grad");
    expect_close(to_doubles(g.scale),
                 finite_differences(p.scale(), p.out_grad(),
                                    [&](const Values& s) { return out(p.x(), s, p.bias()); }),
                 kDifferenceError, "scale_grad");
    expect_close(to_doubles(g.bias),
                 finite_differences(p.bias(), p.out_grad(),
                                    [&](const Values& b) { return out(p.x(), p.scale(), b); }),
                 kDifferenceError, "bias_grad");
  }
}

TEST(LayerNormGradKernel, NoScaleIsAScaleOfOnes) {
  const LayerNorm p{{5, 20}, 1};
  const auto out = [&](const Values& x) {
    return to_doubles(p.forward<double>(x, Values(20, 1.0), p.bias()).out);
  };
  expect_close(to_doubles(layer_norm_gradients<double>(p, {.scale = false}, false).x),
               finite_differences(p.x(), p.out_grad(), out), kDifferenceError);
}

TEST(LayerNormGradKernel, EachOutputAloneIsWhatItIsAmongTheOthers) {
  const LayerNorm p{{6, 40}, 1};
  const Gradients all = layer_norm_gradients<float>(p);
  const Values untouched(p.dims.numel(), 77);
  for (const Wanted& wanted : {Wanted{true, false, false},
                               {false, true, false},
                               {false, false, true},
                               {false, true, true},
                               {}}) {
    const Gradients g = layer_norm_gradients<float>(p, wanted);
    EXPECT_EQ(to_doubles(g.x), wanted.x ? to_doubles(all.x) : untouched);
    EXPECT_EQ(to_doubles(g.scale), wanted.scale ? to_doubles(all.scale) : Values(40, 77));
    EXPECT_EQ(to_doubles(g.bias), wanted.bias ? to_doubles(all.bias) : Values(40, 77));
  }
}

TEST(LayerNormGradKernel, NoRowsSumToZero) {
  const Gradients g = layer_norm_gradients<float>({{0, 3}, 1});
  EXPECT_EQ(to_doubles(g.scale), Values(3, 0.0));
  EXPECT_EQ(to_doubles(g.bias), Values(3, 0.0));
}

template <typename T>
class NormalisationGradTest : public ::testing::Test {};
using Floats = ::testing::Types<float, bfloat16, float16>;
TYPED_TEST_SUITE(NormalisationGradTest, Floats);

TYPED_TEST(NormalisationGradTest, LayerNormInOtherDtypes) {
  using T = TypeParam;
  const LayerNorm p{{7, 70}, 1};
  const Gradients exact = layer_norm_gradients<double>(p);
  const Gradients same = layer_norm_gradients<T>(p);
  expect_close<T>(same.x, to_doubles(exact.x), "x_grad");
  expect_close<T>(same.scale, to_doubles(exact.scale), "scale_grad");
  expect_close<T>(same.bias, to_doubles(exact.bias), "bias_grad");
  const Gradients wide = layer_norm_gradients<T, float>(p);  // float32 weights beside 16-bit x
  expect_close<float>(wide.scale, to_doubles(exact.scale), "float32 scale_grad");
  EXPECT_EQ(to_doubles(wide.x), to_doubles(same.x));
}

struct RmsNorm {
  Dims dims;

  int64_t n() const { return dims.back(); }
  Values x() const { return random_values(dims.numel(), 1, -2, 3); }
  Values scale() const { return random_values(n(), 2, 0.5, 1.5); }
  Values out_grad() const { return random_values(dims.numel(), 4); }

  template <typename T>
  std::pair<DenseTensor, DenseTensor> forward(const Values& x, const Values& scale) const {
    const DenseTensor xt = tensor<T>(x, dims), st = tensor<T>(scale, {n()});
    const auto [om, im] = RmsNormInferMeta(xt.meta(), st.meta(), kEpsilon);
    std::pair<DenseTensor, DenseTensor> f{blank_like(om), blank_like(im)};
    registered<kernels::rms_norm, T>(KernelContext(), xt, st, kEpsilon, &f.first, &f.second);
    return f;
  }
  template <typename T>
  std::pair<DenseTensor, DenseTensor> gradients() const {
    std::pair<DenseTensor, DenseTensor> g{blank<T>(dims), blank<T>({n()})};
    registered<kernels::rms_norm_grad, T>(
        KernelContext(), tensor<T>(x(), dims), tensor<T>(scale(), {n()}),
        forward<T>(x(), scale()).second, tensor<T>(out_grad(), dims), &g.first, &g.second);
    return g;
  }
};

TEST(RmsNormGradKernel, EqualsFiniteDifferences) {
  for (const RmsNorm& p : {RmsNorm{{3, 37}}, {{2, 3, 5}}, {{4, 1}}, {{8}}}) {
    const auto [x_grad, scale_grad] = p.gradients<double>();
    const auto by_x = [&](const Values& x) {
      return to_doubles(p.forward<double>(x, p.scale()).first);
    };
    const auto by_scale = [&](const Values& s) {
      return to_doubles(p.forward<double>(p.x(), s).first);
    };
    expect_close(to_doubles(x_grad), finite_differences(p.x(), p.out_grad(), by_x),
                 kDifferenceError, "x_grad");
    expect_close(to_doubles(scale_grad), finite_differences(p.scale(), p.out_grad(), by_scale),
                 kDifferenceError, "scale_grad");
  }
}

TYPED_TEST(NormalisationGradTest, RmsNormInOtherDtypes) {
  const RmsNorm p{{7, 70}};
  const auto [x_grad, scale_grad] = p.gradients<double>();
  const auto [x_got, scale_got] = p.gradients<TypeParam>();
  expect_close<TypeParam>(x_got, to_doubles(x_grad), "x_grad");
  expect_close<TypeParam>(scale_got, to_doubles(scale_grad), "scale_grad");
}

// A constant row normalises to 0 whatever it is: its slope is the factor times the gradient less
// its mean, and scale gets nothing from it. A row that is not finite spoils no other row of x_grad.
TEST(NormalisationGradKernels, ConstantAndRareRows) {
  for (const int64_t n : {1, 2, 33}) {
    const Dims dims{3, n};
    Values x(3 * n, 0.75), g = random_values(3 * n, 2);
    std::fill_n(x.begin() + n, n, NAN);
    const DenseTensor mean = tensor<float>({0.75, NAN, 0.75}, {3}),
                      variance = tensor<float>({0, NAN, 0}, {3}),
                      ones = tensor<float>(Values(n, 1.0), {n});
    DenseTensor dx = blank<float>(dims), dscale = blank<float>({n}), dbias = blank<float>({n});
    registered<kernels::layer_norm_grad, float>(KernelContext(), tensor<float>(x, dims), &ones,
                                                mean, variance, tensor<float>(g, dims), kEpsilon, 1,
                                                &dx, &dscale, &dbias);
    const Values got = to_doubles(dx);
    const double factor = 1 / std::sqrt(double{kEpsilon});
    for (const int64_t r : {int64_t{0}, int64_t{2}}) {
      double total = 0;
      for (int64_t i = 0; i < n; ++i) total += g[r * n + i];
      for (int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(got[r * n + i], factor * (g[r * n + i] - total / static_cast<double>(n)), 1e-4);
      }
    }
    for (int64_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(got[n + i])) << i;
    x.assign(3 * n, 0.75);
    registered<kernels::layer_norm_grad, float>(
        KernelContext(), tensor<float>(x, dims), &ones, tensor<float>(Values(3, 0.75), {3}),
        tensor<float>(Values(3, 0.0), {3}), tensor<float>(g, dims), kEpsilon, 1, &dx, &dscale,
        &dbias);
    EXPECT_EQ(to_doubles(dscale), Values(n, 0.0));
    registered<kernels::rms_norm_grad, float>(
        KernelContext(), tensor<float>(Values(3 * n, 0.0), dims), ones,
        tensor<float>(Values(3, 2.0), {3}), tensor<float>(g, dims), &dx, &dscale);
    for (int64_t i = 0; i < 3 * n; ++i) EXPECT_NEAR(to_doubles(dx)[i], 2 * g[i], 1e-6);
    EXPECT_EQ(to_doubles(dscale), Values(n, 0.0));
  }
}

}  // namespace
}  // namespace phi::testing
