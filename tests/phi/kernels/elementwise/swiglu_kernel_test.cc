// The gated linear unit against its formula, its gradients against differences.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/infermeta/swiglu.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

double swiglu(double x, double y) { return x / (1 + std::exp(-x)) * y; }

template <typename T>
class SwiGLUKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(SwiGLUKernelTest, Floats);

TYPED_TEST(SwiGLUKernelTest, WithAndWithoutY) {
  using T = TypeParam;
  const Dims dims{3, 7};
  const Values x = random_values(21, 1, -6, 6), y = random_values(21, 2);
  const DenseTensor xt = tensor<T>(x, dims), yt = tensor<T>(y, dims);
  DenseTensor out = blank_like(SwiGLUInferMeta(xt.meta(), &yt.meta()));
  registered<kernels::swiglu, T>(KernelContext(), xt, &yt, &out);
  Values expected, joined;
  for (int i = 0; i < 21; ++i) expected.push_back(swiglu(x[i], y[i]));
  expect_close<T>(out, expected);

  for (int r = 0; r < 3; ++r) {
    joined.insert(joined.end(), x.begin() + r * 7, x.begin() + r * 7 + 7);
    joined.insert(joined.end(), y.begin() + r * 7, y.begin() + r * 7 + 7);
  }
  const DenseTensor both = tensor<T>(joined, {3, 14});
  DenseTensor halves = blank_like(SwiGLUInferMeta(both.meta(), nullptr));
  registered<kernels::swiglu, T>(KernelContext(), both, nullptr, &halves);
  EXPECT_EQ(to_doubles(halves), to_doubles(out));
}

TEST(SwiGLUInferMeta, Errors) {
  const TensorMeta x{{3, 7}, DataType::FLOAT32}, y{{3, 6}, DataType::FLOAT32};
  expect_error("x is f32[3,7], but without y its last extent must be even",
               [&] { SwiGLUInferMeta(x, nullptr); });
  expect_error("x is f32[3,7] and y is f32[3,6]", [&] { SwiGLUInferMeta(x, &y); });
}

TEST(SwiGLUKernel, EmptyArrays) {
  DenseTensor out = blank<float>({3, 0});
  registered<kernels::swiglu, float>(KernelContext(), blank<float>({3, 0}), nullptr, &out);
}

/// One argument is both halves.
struct SwiGLU {
  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    const DenseTensor* y = in.size() == 2 ? &in[1] : nullptr;
    DenseTensor out = blank_like(SwiGLUInferMeta(in[0].meta(), y ? &y->meta() : nullptr));
    registered<kernels::swiglu, T>(KernelContext(), in[0], y, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    if (in.size() == 2) grads.push_back(blank<T>(in[1].dims()));
    registered<kernels::swiglu_grad, T>(KernelContext(), in[0], in.size() == 2 ? &in[1] : nullptr,
                                        out_grad, &grads[0], in.size() == 2 ? &grads[1] : nullptr);
    return grads;
  }
};

TEST(SwiGLUGradKernel, EqualsFiniteDifferences) {
  for (const Dims& dims : {Dims{3, 300}, Dims{7}, Dims{}, Dims{0, 2}}) {
    check_gradients(SwiGLU{}, {{dims, -4, 4}, {dims}}, dims.to_string());
  }
  for (const Dims& dims : {Dims{3, 14}, Dims{2, 600}, Dims{2}, Dims{3, 0}, Dims{0, 4}}) {
    check_gradients(SwiGLU{}, {{dims, -4, 4}}, dims.to_string() + " in halves");
  }
}

TEST(SwiGLUGradKernel, UnwantedGradientsAreNotMade) {
  const Dims dims{3, 5};
  const Tensors in = {tensor<bfloat16>(random_values(15, 1), dims),
                      tensor<bfloat16>(random_values(15, 2), dims)};
  const Tensors both = SwiGLU{}.gradients<bfloat16>(in, in[0], in[0]);
  DenseTensor dx = blank<bfloat16>(dims), dy = blank<bfloat16>(dims);
  registered<kernels::swiglu_grad, bfloat16>(KernelContext(), in[0], &in[1], in[0], &dx, nullptr);
  registered<kernels::swiglu_grad, bfloat16>(KernelContext(), in[0], &in[1], in[0], nullptr, &dy);
  EXPECT_EQ(to_doubles(dx), to_doubles(both[0]));
  EXPECT_EQ(to_doubles(dy), to_doubles(both[1]));
}

// Every pair of rare floats; a product of subnormals is as far off as these.
template <typename T>
void check_rare_pairs() {
  const RarePairs<T> pairs;
  DenseTensor out = blank<T>(pairs.dims());
  const DenseTensor y = tensor<T>(pairs.y, pairs.dims());
  registered<kernels::swiglu, T>(KernelContext(), tensor<T>(pairs.x, pairs.dims()), &y, &out);
  const Values got = to_doubles(out);
  for (size_t i = 0; i < got.size(); ++i) {
    const double a = pairs.x[i], b = pairs.y[i];
    const double expected = swiglu(a, b);
    // silu is subnormal in float at -100, and 0 for smaller ones: times an infinity NaN.
    const double lost = 128 * float_format<float>().subnormal * std::abs(b);
    if (std::isfinite(lost) && std::abs(got[i] - expected) <= lost) continue;
    if (std::isinf(b) && std::abs(swiglu(a, 1)) < float_format<float>().normal) continue;
    expect_steps<T>(got[i], expected, std::is_same_v<T, double> ? 64 : 8,
                    "swiglu of " + std::to_string(a) + " and " + std::to_string(b));
  }
}

TEST(SwiGLUKernel, PairsOfRareFloats) {
  check_rare_pairs<float>();
  check_rare_pairs<double>();
  check_rare_pairs<bfloat16>();
  check_rare_pairs<float16>();
}

TEST(SwiGLUKernel, RareExtents) {
  for (const int64_t n : extents_around(256)) {
    const Values x = random_values(2 * n, 1), y = random_values(n, 2);
    DenseTensor out = blank<bfloat16>({n}), halves = blank<float>({n});
    const DenseTensor yt = tensor<bfloat16>(y, {n});
    registered<kernels::swiglu, bfloat16>(
        KernelContext(), tensor<bfloat16>(Values(x.begin(), x.begin() + n), {n}), &yt, &out);
    registered<kernels::swiglu, float>(KernelContext(), tensor<float>(x, {2 * n}), nullptr,
                                       &halves);
    Values expected, of_halves;
    for (int64_t i = 0; i < n; ++i) {
      expected.push_back(swiglu(x[i], y[i]));
      of_halves.push_back(swiglu(x[i], x[n + i]));
    }
    expect_close<bfloat16>(out, expected);
    expect_close<float>(halves, of_halves);
  }
}

}  // namespace
}  // namespace phi::testing
