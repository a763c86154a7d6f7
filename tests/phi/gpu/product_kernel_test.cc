// Matrix products on GPUs against the CPU's: transposes, batches that fold, loop and are summed.
#include <gtest/gtest.h>

#include "phi/core/rank_context.h"
#include "phi/generated/kernels/matmul.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Case {
  Dims x, y, out;
  bool trans_x = false, trans_y = false;
};

const std::vector<Case> kCases = {
    {{5, 7}, {7, 3}, {5, 3}},
    {{7, 5}, {7, 3}, {5, 3}, true, false},
    {{5, 7}, {3, 7}, {5, 3}, false, true},
    {{7, 5}, {3, 7}, {5, 3}, true, true},
    {{7}, {7, 3}, {3}},
    {{5, 7}, {7}, {5}},
    {{4, 5, 7}, {7, 3}, {4, 5, 3}},
    {{2, 4, 5, 7}, {2, 4, 7, 3}, {2, 4, 5, 3}},
    {{2, 1, 5, 7}, {4, 7, 3}, {2, 4, 5, 3}},
    {{2, 4, 7, 5}, {1, 4, 3, 7}, {2, 4, 5, 3}, true, true},
    {{5, 0}, {0, 3}, {5, 3}},
    {{0, 7}, {7, 3}, {0, 3}},
    {{32, 64}, {64, 16}, {32, 16}},
};

using Numbers = join_t<Floats, Complexes>;

template <typename T>
void expect_products() {
  const DataType dtype = dtype_of<T>();
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(name_of(dtype)) + " " + c.x.to_string() + c.y.to_string());
    const DenseTensor x = drawn(dtype, c.x, 1);
    const DenseTensor y = drawn(dtype, c.y, 2);
    const DenseTensor grad = drawn(dtype, c.out, 3);
    expect_same_on_gpu(
        {x, y}, {grad.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::matmul, T>(ctx, in[0], in[1], c.trans_x, c.trans_y, &out[0]);
        });
    expect_same_on_gpu({x, y, grad}, {x.meta(), y.meta()},
                       [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::matmul_grad, T>(ctx, in[0], in[1], in[2], c.trans_x,
                                                             c.trans_y, &out[0], &out[1]);
                       });
  }
}

TEST(ProductsOnGpus, AreThoseOfTheCpu) {
  expect_products<float>();
  expect_products<double>();
  expect_products<bfloat16>();
  expect_products<float16>();
  expect_products<complex64>();
  expect_products<complex128>();
}

// An element of the product of square matrices of 1 + 2^-12, which TF32 rounds to 1, over their
// side: as large and aligned as its units ask for.
double mean_term(DataType dtype, bool tf32, bool adds) {
  constexpr int64_t kSide = 64;
  RankContext context;
  context.set_tf32(tf32);
  const RankContext::Scope scope(context);
  return visit_dtype(dtype, [&]<typename T>() {
    const auto x = tensor<T>(std::vector<double>(kSide * kSide, 1 + 0x1p-12), {kSide, kSide});
    const Arrays left =
        left_on_gpu({x}, {x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
          if (adds) {
            registered<kernels::addmm, T>(ctx, in[0], in[0], in[0], 0.0f, 1.0f, &out[0]);
          } else {
            registered<kernels::matmul, T>(ctx, in[0], in[0], false, false, &out[0]);
          }
        });
    return to_doubles(left[1])[0] / kSide;
  });
}

TEST(ProductsOnGpus, FloatsAreRoundedToTf32WhereTheRankAsksForIt) {
  const double exact = (1 + 0x1p-12) * (1 + 0x1p-12);
  constexpr double kRounding = 0x1p-19;
  for (const bool adds : {false, true}) {
    EXPECT_NEAR(mean_term(DataType::FLOAT32, false, adds), exact, kRounding);
    const double rounded = mean_term(DataType::FLOAT32, true, adds);
    // cuBLASLt may keep all bits where that is as quick.
    if (!is_real_gpu() || rounded < 1 + 0x1p-12) {
      EXPECT_EQ(rounded, 1);
    }
    EXPECT_NEAR(mean_term(DataType::FLOAT32, false, adds), exact, kRounding) << "its own plan";
    EXPECT_NEAR(mean_term(DataType::FLOAT64, true, adds), exact, 1e-15);
  }
}

// Were the halves of this sum rounded apart, the first would lose what the result is.
template <typename T>
void expect_sum_rounded_once() {
  const double small = std::is_same_v<T, bfloat16> ? 0x1p-8 : 0x1p-11;
  const auto x = tensor<T>({1, small, -1, 0}, {1, 4});
  const auto y = tensor<T>({1, 1, 1, 1}, {4, 1});
  const Arrays left = left_on_gpu(
      {x, y}, {{{1, 1}, dtype_of<T>()}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::matmul, T>(ctx, in[0], in[1], false, false, &out[0]);
      });
  EXPECT_EQ(to_doubles(left[2])[0], small) << name_of(dtype_of<T>());
}

TEST(ProductsOnGpus, SumsOf16BitFloatsAreRoundedOnce) {
  expect_sum_rounded_once<bfloat16>();
  expect_sum_rounded_once<float16>();
}

// Columns are given to cuBLASLt as rows: of arguments, of the result, in batches; more members than
// it takes at once.
TEST(ProductsOnGpus, ColumnsAreThoseOfTheCpu) {
  const std::vector<Case> cases = {
      {{5, 7}, {7, 1}, {5, 1}},
      {{7, 5}, {7, 1}, {5, 1}, true},
      {{5, 7}, {1, 7}, {5, 1}, false, true},
      {{5, 1}, {1, 3}, {5, 3}},
      {{1, 5}, {3, 1}, {5, 3}, true, true},
      {{3, 5, 7}, {3, 7, 1}, {3, 5, 1}},
      {{3, 1, 1}, {3, 1, 1}, {3, 1, 1}},
      {{70'000, 1, 1}, {70'000, 1, 1}, {70'000, 1, 1}},
      {{3, 5, 1}, {3, 1, 7}, {3, 5, 7}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.x.to_string() + c.y.to_string());
    for_each_type(Numbers(), [&]<typename T>() {
      expect_same_on_gpu(
          {drawn(dtype_of<T>(), c.x, 1), drawn(dtype_of<T>(), c.y, 2)}, {{c.out, dtype_of<T>()}},
          [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
            registered<kernels::matmul, T>(ctx, in[0], in[1], c.trans_x, c.trans_y, &out[0]);
          });
    });
  }
}

template <typename T>
void expect_sum_with_product(const Dims& added, int64_t inner, int64_t rows = 5,
                             int64_t columns = 3) {
  SCOPED_TRACE(std::string(name_of(dtype_of<T>())) + " " + added.to_string());
  const DenseTensor input = drawn(dtype_of<T>(), added, 1);
  const DenseTensor x = drawn(dtype_of<T>(), {rows, inner}, 2);
  const DenseTensor y = drawn(dtype_of<T>(), {inner, columns}, 3);
  const DenseTensor grad = drawn(dtype_of<T>(), {rows, columns}, 4);
  expect_same_on_gpu(
      {input, x, y}, {grad.meta()}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::addmm, T>(ctx, in[0], in[1], in[2], 0.5f, -2.0f, &out[0]);
      });
  expect_same_on_gpu({x, y, grad}, {input.meta(), x.meta(), y.meta()},
                     [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::addmm_grad, T>(ctx, in[0], in[1], in[2], 0.5f, -2.0f,
                                                          &out[0], &out[1], &out[2]);
                     });
}

TEST(ProductsOnGpus, AreAddedToWhatBroadcasts) {
  for_each_type(Numbers(), []<typename T>() {
    for (const Dims& added : {Dims{5, 3}, Dims{1, 3}, Dims{5, 1}, Dims{3}, Dims{1}})
      expect_sum_with_product<T>(added, 7);
    expect_sum_with_product<T>({3}, 0);
  });
  for_each_type(Floats(), []<typename T>() { expect_sum_with_product<T>({1}, 2, 90, 100); });
}

TEST(ProductsOnGpus, NothingIsReadOfAProductThatCountsZeroTimes) {
  const auto nan = tensor<float>({NAN}, {1, 1});
  const auto three = tensor<float>({3}, {1, 1});
  const TensorMeta& one = three.meta();
  const Arrays sum =
      left_on_gpu({three, nan, nan}, {one}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::addmm, float>(ctx, in[0], in[1], in[2], 0.5f, 0.0f, &out[0]);
      });
  EXPECT_EQ(to_doubles(sum[3])[0], 1.5);
  const Arrays grads = left_on_gpu(
      {nan, nan, three}, {one, one, one}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::addmm_grad, float>(ctx, in[0], in[1], in[2], 0.5f, 0.0f, &out[0],
                                               &out[1], &out[2]);
      });
  EXPECT_EQ(to_doubles(grads[3])[0], 1.5);
  EXPECT_EQ(to_doubles(grads[4])[0], 0.0);
  EXPECT_EQ(to_doubles(grads[5])[0], 0.0);
}

TEST(ProductsOnGpus, RowsHaveTheDotProductsOfTheCpu) {
  for_each_type(join_t<TypeList<int32_t, int64_t>, Numbers>(), []<typename T>() {
    expect_same_on_gpu({drawn(dtype_of<T>(), {4, 70}, 1), drawn(dtype_of<T>(), {4, 70}, 2)},
                       {{{4}, dtype_of<T>()}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::dot, T>(ctx, in[0], in[1], &out[0]);
                       });
  });
  for_each_type(Numbers(), []<typename T>() {
    const DenseTensor x = drawn(dtype_of<T>(), {4, 70}, 1);
    expect_same_on_gpu({x, drawn(dtype_of<T>(), {4, 70}, 2), drawn(dtype_of<T>(), {4}, 3)},
                       {x.meta(), x.meta()}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::dot_grad, T>(ctx, in[0], in[1], in[2], &out[0],
                                                          &out[1]);
                       });
  });
}

}  // namespace
}  // namespace phi::testing
