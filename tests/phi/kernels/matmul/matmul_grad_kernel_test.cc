// Gradients of matrix products: all layouts against differences, and the corners by hand.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/infermeta/matmul.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

struct Matmul {
  bool transpose_x = false;
  bool transpose_y = false;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out =
        blank_like(MatmulInferMeta(in[0].meta(), in[1].meta(), transpose_x, transpose_y));
    registered<kernels::matmul, T>(KernelContext(), in[0], in[1], transpose_x, transpose_y, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims()), blank<T>(in[1].dims())};
    registered<kernels::matmul_grad, T>(KernelContext(), in[0], in[1], out_grad, transpose_x,
                                        transpose_y, &grads[0], &grads[1]);
    return grads;
  }
};

/// `dims` with its last two extents swapped, as a transposed argument is stored.
Dims stored(Dims dims, bool transposed) {
  if (transposed && dims.ndim() > 1) std::swap(dims[dims.ndim() - 2], dims[dims.ndim() - 1]);
  return dims;
}

TEST(MatmulGradKernel, EqualsFiniteDifferencesForAllTransposes) {
  struct Row {
    Dims x;  // before transposing
    Dims y;
  };
  const Row rows[] = {
      {{4, 3}, {3, 5}},
      {{17, 9}, {9, 12}},
      {{2, 3, 4}, {4, 5}},  // a weight: both gradients are one product
      {{2, 2, 3, 4}, {4, 5}},
      {{2, 3, 4}, {2, 4, 5}},
      {{3, 4}, {2, 4, 5}},        // x is broadcast
      {{2, 1, 3, 4}, {3, 4, 2}},  // each is broadcast in another tensor dim
      {{2, 3, 2, 4}, {2, 1, 4, 3}},
      {{1, 2, 3}, {1, 3, 2}},
      {{2, 3, 4}, {1, 4, 2}},
      {{1, 1}, {1, 1}},
  };
  for (const Row& row : rows) {
    for (int flags = 0; flags < 4; ++flags) {
      const Matmul op{(flags & 1) != 0, (flags & 2) != 0};
      check_gradients(
          op, {{stored(row.x, op.transpose_x)}, {stored(row.y, op.transpose_y)}},
          row.x.to_string() + " @ " + row.y.to_string() + " transposed " + std::to_string(flags));
    }
  }
}

TEST(MatmulGradKernel, VectorsIgnoreTheirFlags) {
  for (int flags = 0; flags < 4; ++flags) {
    const Matmul op{(flags & 1) != 0, (flags & 2) != 0};
    check_gradients(op, {{{7}}, {{7}}}, "dot");
    check_gradients(op, {{stored({3, 4}, op.transpose_x)}, {{4}}}, "matrix @ vector");
    check_gradients(op, {{stored({2, 3, 4}, op.transpose_x)}, {{4}}}, "matrices @ vector");
    check_gradients(op, {{{4}}, {stored({4, 3}, op.transpose_y)}}, "vector @ matrix");
    check_gradients(op, {{{4}}, {stored({2, 4, 3}, op.transpose_y)}}, "vector @ matrices");
  }
}

TEST(MatmulGradKernel, EmptyExtentsGiveZeros) {
  struct Row {
    Dims x;
    Dims y;
  };
  const Row rows[] = {
      {{0, 3}, {3, 4}},        // no rows: y_grad is a sum of nothing
      {{3, 4}, {4, 0}},        // no columns: x_grad is
      {{3, 0}, {0, 4}},        // both gradients are empty
      {{0, 2, 3}, {3, 4}},     // no members, folded
      {{0, 2, 3}, {1, 3, 4}},  // no members in a batch that y is broadcast to
      {{1, 2, 3}, {0, 3, 4}},
  };
  for (const Row& row : rows) {
    const auto check = [&]<typename T>() {
      const Tensors in = {tensor<T>(random_values(row.x.numel(), 1), row.x),
                          tensor<T>(random_values(row.y.numel(), 2), row.y)};
      const Matmul op;
      const DenseTensor out = op.forward<T>(in);
      for (const DenseTensor& grad : op.gradients<T>(in, out, out)) {
        EXPECT_EQ(to_doubles(grad), Values(grad.numel(), 0.0)) << row.x.to_string();
      }
    };
    check.operator()<float>();
    check.operator()<bfloat16>();
  }
}

TEST(MatmulGradKernel, UnwantedGradientsAreNotMade) {
  const Matmul op;
  const Tensors in = {tensor<float>(random_values(6, 1), {2, 3}),
                      tensor<float>(random_values(12, 2), {3, 4})};
  const DenseTensor g = tensor<float>(random_values(8, 3), {2, 4});
  const Tensors both = op.gradients<float>(in, g, g);
  DenseTensor x_grad = blank<float>({2, 3});
  DenseTensor y_grad = blank<float>({3, 4});
  registered<kernels::matmul_grad, float>(KernelContext(), in[0], in[1], g, false, false, &x_grad,
                                          nullptr);
  registered<kernels::matmul_grad, float>(KernelContext(), in[0], in[1], g, false, false, nullptr,
                                          &y_grad);
  registered<kernels::matmul_grad, float>(KernelContext(), in[0], in[1], g, false, false, nullptr,
                                          nullptr);
  EXPECT_EQ(to_doubles(x_grad), to_doubles(both[0]));
  EXPECT_EQ(to_doubles(y_grad), to_doubles(both[1]));
}

// A sum of 2048 ones in 16 bit would stop at 256.
TEST(MatmulGradKernel, SixteenBitBatchesAreSummedInFloat) {
  const Dims x{2048, 1, 1};
  const Tensors in = {tensor<bfloat16>(Values(2048, 1.0), x), tensor<bfloat16>({1}, {1, 1, 1})};
  for (const bool transposed : {false, true}) {
    const Tensors grads = Matmul{transposed, transposed}.gradients<bfloat16>(in, in[0], in[0]);
    EXPECT_EQ(to_doubles(grads[1]), Values{2048});
  }
}

// A NaN of out_grad reaches its row of x_grad and its column of y_grad; one of x reaches y_grad
// even where out_grad is 0.
TEST(MatmulGradKernel, NanReachesWhatItShould) {
  const int64_t m = 5, k = 19, n = 17;
  const auto check = [&]<typename T>() {
    Values x(m * k, 1.0), y(k * n, 1.0), g(m * n, 0.0);
    g[2 * n + 16] = NAN;
    Tensors grads = Matmul{}.gradients<T>({tensor<T>(x, {m, k}), tensor<T>(y, {k, n})},
                                          DenseTensor(), tensor<T>(g, {m, n}));
    const Values dx = to_doubles(grads[0]), dy = to_doubles(grads[1]);
    for (int64_t i = 0; i < m * k; ++i) EXPECT_EQ(std::isnan(dx[i]), i / k == 2) << i;
    for (int64_t i = 0; i < k * n; ++i) EXPECT_EQ(std::isnan(dy[i]), i % n == 16) << i;
    x[3 * k + 18] = NAN;
    grads = Matmul{}.gradients<T>({tensor<T>(x, {m, k}), tensor<T>(y, {k, n})}, DenseTensor(),
                                  tensor<T>(Values(m * n, 0.0), {m, n}));
    const Values spoilt = to_doubles(grads[1]);
    for (int64_t i = 0; i < k * n; ++i) EXPECT_EQ(std::isnan(spoilt[i]), i / n == 18) << i;
  };
  check.operator()<float>();
  check.operator()<double>();
  check.operator()<bfloat16>();
  check.operator()<float16>();
}

}  // namespace
}  // namespace phi::testing
