// The gated linear unit against its formula.
#include "phi/kernels/swiglu_kernel.h"

#include "phi/infermeta/swiglu.h"
#include "tests/phi/kernels/dense_oracle.h"

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
  SwiGLUKernel<T>(CpuContext(), xt, &yt, &out);
  Values expected, joined;
  for (int i = 0; i < 21; ++i) expected.push_back(swiglu(x[i], y[i]));
  expect_close<T>(out, expected);

  for (int r = 0; r < 3; ++r) {
    joined.insert(joined.end(), x.begin() + r * 7, x.begin() + r * 7 + 7);
    joined.insert(joined.end(), y.begin() + r * 7, y.begin() + r * 7 + 7);
  }
  const DenseTensor both = tensor<T>(joined, {3, 14});
  DenseTensor halves = blank_like(SwiGLUInferMeta(both.meta(), nullptr));
  SwiGLUKernel<T>(CpuContext(), both, nullptr, &halves);
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
  SwiGLUKernel<float>(CpuContext(), blank<float>({3, 0}), nullptr, &out);
}

}  // namespace
}  // namespace phi::testing
