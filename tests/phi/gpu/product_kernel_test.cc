// Matrix products on GPUs against the CPU's: transposes, batches that fold, loop and are summed.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace phi::testing
