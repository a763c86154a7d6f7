// Matrix products against a double-precision triple loop.

#include <array>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/infermeta/matmul.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

struct Case {
  Dims x;
  Dims y;
  bool transpose_x = false;
  bool transpose_y = false;
};

/// The last two extents and strides of a matrix seen through its transpose flag.
struct MatrixView {
  int64_t rows, columns, row_stride, column_stride;
  MatrixView(const Dims& dims, bool is_row, bool transposed) {
    const int n = dims.ndim();
    rows = n == 1 ? (is_row ? 1 : dims[0]) : dims[n - 2];
    columns = n == 1 ? (is_row ? dims[0] : 1) : dims[n - 1];
    row_stride = columns;
    column_stride = 1;
    if (transposed && n > 1) {
      std::swap(rows, columns);
      std::swap(row_stride, column_stride);
    }
  }
};

int64_t member_offset(const Dims& dims, const Dims& batch, int64_t member) {
  int64_t offset = 0;
  int64_t step = 1;
  for (int d = batch.ndim() - 1; d >= 0; --d) {
    const int own = d - batch.ndim() + dims.ndim() - 2;
    const int64_t index = member % batch[d];
    member /= batch[d];
    if (own < 0) continue;
    if (dims[own] > 1) offset += index * step;
    step *= dims[own];
  }
  return offset;
}

Values oracle(const Case& c, const Values& x, const Values& y, const Dims& out) {
  const MatrixView a(c.x, true, c.transpose_x);
  const MatrixView b(c.y, false, c.transpose_y);
  const int matrix_ndim = (c.x.ndim() > 1) + (c.y.ndim() > 1);
  Dims batch;
  for (int d = 0; d < out.ndim() - matrix_ndim; ++d) batch.push_back(out[d]);
  Values result;
  for (int64_t member = 0; member < batch.numel(); ++member) {
    const double* xm = x.data() + member_offset(c.x, batch, member) * a.rows * a.columns;
    const double* ym = y.data() + member_offset(c.y, batch, member) * b.rows * b.columns;
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < b.columns; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < a.columns; ++p)
          sum += xm[i * a.row_stride + p * a.column_stride] *
                 ym[p * b.row_stride + j * b.column_stride];
        result.push_back(sum);
      }
    }
  }
  return result;
}

const Case kCases[] = {
    {{8, 8}, {8, 8}},
    {{5, 7}, {3, 7}, false, true},
    {{7, 5}, {7, 3}, true, false},
    {{7, 5}, {3, 7}, true, true},
    {{33, 40}, {40, 29}},
    {{40, 33}, {29, 40}, true, true},
    {{300, 20}, {20, 17}},  // more rows than a 16-bit panel
    {{20, 300}, {20, 17}, true, false},
    {{9}, {9}},
    {{9}, {9}, true, true},
    {{5000}, {5000}},
    {{4, 9}, {9}},
    {{9, 4}, {9}, true, false},
    {{9}, {9, 4}},
    {{9}, {4, 9}, false, true},
    {{2, 3, 4, 5}, {5, 6}},
    {{2, 3, 5, 4}, {5, 6}, true, false},
    {{2, 3, 4, 5}, {3, 5, 6}},
    {{2, 1, 4, 5}, {1, 3, 6, 5}, false, true},
    {{5}, {2, 5, 3}},
    {{2, 4, 5}, {5}},
    {{1, 1}, {1, 1}},
    {{3, 0}, {0, 4}},
    {{0, 3}, {3, 4}},
    {{2, 0, 3}, {3, 4}},
    {{0, 2, 3}, {0, 3, 4}},
    {{3, 4}, {4, 0}},
};

template <typename T>
class MatmulKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(MatmulKernelTest, Floats);

TYPED_TEST(MatmulKernelTest, EqualsTripleLoop) {
  using T = TypeParam;
  for (const Case& c : kCases) {
    const Values x = random_values(c.x.numel(), 1);
    const Values y = random_values(c.y.numel(), 2);
    const DenseTensor xt = tensor<T>(x, c.x);
    const DenseTensor yt = tensor<T>(y, c.y);
    DenseTensor out =
        blank_like(MatmulInferMeta(xt.meta(), yt.meta(), c.transpose_x, c.transpose_y));
    registered<kernels::matmul, T>(KernelContext(), xt, yt, c.transpose_x, c.transpose_y, &out);
    expect_close<T>(out, oracle(c, x, y, out.dims()), c.x.to_string() + " @ " + c.y.to_string());
  }
}

// Extents of 0 and 1 and around the registers and tiles of every way to multiply; what out held
// before, NaN here, is not read.
TYPED_TEST(MatmulKernelTest, RareExtents) {
  using T = TypeParam;
  for (const int64_t m : {0, 1, 3, 17, 33}) {
    for (const int64_t n : {0, 1, 7, 31, 65}) {
      for (const int64_t k : {0, 1, 9, 33}) {
        for (int flags = 0; flags < 4; ++flags) {
          const bool tx = (flags & 1) != 0, ty = (flags & 2) != 0;
          const Case c{tx ? Dims{k, m} : Dims{m, k}, ty ? Dims{n, k} : Dims{k, n}, tx, ty};
          const Values x = random_values(m * k, 1), y = random_values(k * n, 2);
          DenseTensor out = tensor<T>(Values(m * n, NAN), {m, n});
          registered<kernels::matmul, T>(KernelContext(), tensor<T>(x, c.x), tensor<T>(y, c.y), tx,
                                         ty, &out);
          expect_close<T>(out, oracle(c, x, y, {m, n}),
                          c.x.to_string() + " @ " + c.y.to_string() + std::to_string(flags));
        }
      }
    }
  }
}

// Zero times NaN or infinity is NaN, in the row and column of the odd number and nowhere else.
TYPED_TEST(MatmulKernelTest, NanAndInfinityMeetZeros) {
  using T = TypeParam;
  for (const auto& [m, k, n] : {std::array{3, 5, 4},
                                {17, 19, 20},
                                {33, 40, 35},
                                {1, 300, 40},
                                {40, 300, 1},
                                {130, 33, 17}}) {
    for (const double odd : {double{NAN}, double{INFINITY}}) {
      for (int flags = 0; flags < 4; ++flags) {
        const bool tx = (flags & 1) != 0, ty = (flags & 2) != 0;
        const Case c{tx ? Dims{k, m} : Dims{m, k}, ty ? Dims{n, k} : Dims{k, n}, tx, ty};
        for (const bool in_x : {true, false}) {
          // The last element: where tiles end and are padded.
          Values x(m * k, in_x ? 1.0 : 0.0), y(k * n, in_x ? 0.0 : 1.0);
          (in_x ? x : y).back() = odd;
          DenseTensor out = blank<T>({m, n});
          registered<kernels::matmul, T>(KernelContext(), tensor<T>(x, c.x), tensor<T>(y, c.y), tx,
                                         ty, &out);
          expect_close<T>(out, oracle(c, x, y, {m, n}),
                          c.x.to_string() + " @ " + c.y.to_string() + std::to_string(flags));
        }
      }
    }
  }
}

// Sums of products that overflow or cancel are those of the computing type.
TEST(MatmulKernel, ProductsThatOverflow) {
  DenseTensor out = blank<float>({1, 1});
  const auto product = [&](const Values& x, const Values& y) {
    const auto k = static_cast<int64_t>(x.size());
    registered<kernels::matmul, float>(KernelContext(), tensor<float>(x, {1, k}),
                                       tensor<float>(y, {k, 1}), false, false, &out);
    return to_doubles(out)[0];
  };
  EXPECT_EQ(product({0x1p64}, {0x1p64}), INFINITY);
  EXPECT_EQ(product({1e30, 1e30}, {1, -1}), 0);
  DenseTensor half = blank<float16>({1, 1});
  registered<kernels::matmul, float16>(KernelContext(), tensor<float16>({256, 256}, {1, 2}),
                                       tensor<float16>({256, -255}, {2, 1}), false, false, &half);
  EXPECT_EQ(to_doubles(half)[0], 256);  // the terms alone are beyond float16
}

}  // namespace
}  // namespace phi::testing
