// Cumulative kernels and their gradients on GPUs, beside the CPU's.
#include "phi/generated/kernels/scan.h"
#include "phi/generated/kernels/sort.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Case {
  Dims dims;
  int axis;
};
// Lines for a thread, a warp, a block and several, with rest in the last tile and part; neighbours
// and others.
const std::vector<Case> kCases = {{{}, -1},       {{1}, 0},       {{0, 3}, 1},     {{3, 0}, 1},
                                  {{40, 3}, 1},   {{3, 150}, 1},  {{2, 2500}, -1}, {{4, 70, 3}, 1},
                                  {{6, 8200}, 0}, {{2, 9001}, 1}, {{9001, 2}, 0}};

/// Calls check(test, exclusive, reverse).
template <typename F>
void for_each_scan(F check) {
  for (const Case& test : kCases) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        if (test.dims.numel() > 10000 && exclusive != reverse) continue;  // they take long
        SCOPED_TRACE(test.dims.to_string() + " axis " + std::to_string(test.axis) +
                     (exclusive ? " exclusive" : "") + (reverse ? " reverse" : ""));
        check(test, exclusive, reverse);
      }
    }
  }
}

template <typename T>
void check_sums(const Case& test, bool exclusive, bool reverse) {
  const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1);
  for (const bool flatten : {false, true}) {
    expect_same_on_gpu({x}, {x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::cumsum, T>(ctx, in[0], Scalar(test.axis), flatten, exclusive, reverse,
                                     &out[0]);
    });
  }
  expect_same_on_gpu({x}, {}, [&](const KernelContext& ctx, Arrays& in, Arrays&) {
    registered<kernels::cumsum, T>(ctx, in[0], Scalar(test.axis), false, exclusive, reverse,
                                   &in[0]);
  });
}

template <typename T>
void check_products(const Case& test, bool exclusive, bool reverse) {
  const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1, -1, 1.5);
  expect_same_on_gpu({x}, {x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::cumprod, T>(ctx, in[0], test.axis, exclusive, reverse, &out[0]);
  });
}

template <typename T>
void check_product_gradients(const Case& test, bool exclusive, bool reverse) {
  const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1, -1, 1.5);
  const DenseTensor g = drawn(dtype_of<T>(), test.dims, 2);
  expect_same_on_gpu({x, g}, {x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::cumprod_grad, T>(ctx, in[0], in[1], test.axis, exclusive, reverse, &out[0]);
  });
}

template <typename T>
void check_exponentials(const Case& test, bool exclusive, bool reverse) {
  const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1, -1, 1.5);
  const DenseTensor g = drawn(dtype_of<T>(), test.dims, 2);
  const auto logarithms = [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::logcumsumexp, T>(ctx, in[0], test.axis, false, exclusive, reverse, &out[0]);
  };
  expect_same_on_gpu({x}, {x.meta()}, logarithms);
  const DenseTensor sums = left_on_cpu({x}, {x.meta()}, logarithms)[1];
  expect_same_on_gpu({x, sums, g}, {x.meta()},
                     [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::logcumsumexp_grad, T>(
                           ctx, in[0], in[1], in[2], test.axis, false, exclusive, reverse, &out[0]);
                     });
}

TEST(GpuScan, SumsAndProducts) {
  for_each_type(Numbers(), []<typename T>() {
    for_each_scan(check_sums<T>);
    for_each_scan(check_products<T>);
  });
}

TEST(GpuScan, SumsOfOtherTypes) {
  for_each_type(join_t<TypeList<int8_t, int16_t>, Complexes>(),
                []<typename T>() { for_each_scan(check_sums<T>); });
}

TEST(GpuScan, ProductsOfComplexNumbers) {
  for_each_type(Complexes(), []<typename T>() {
    for_each_scan(check_products<T>);
    for_each_scan(check_product_gradients<T>);
  });
}

TEST(GpuScan, GradientsAndExponentials) {
  for_each_type(Floats(), []<typename T>() {
    for_each_scan(check_product_gradients<T>);
    for_each_scan(check_exponentials<T>);
  });
}

template <typename T>
void check_best(const DenseTensor& x, int axis, DataType index) {
  const TensorMeta places{x.dims(), index};
  expect_same_on_gpu(
      {x}, {x.meta(), places, x.meta(), places},
      [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::cummax, T>(ctx, in[0], axis, &out[0], &out[1]);
        registered<kernels::cummin, T>(ctx, in[0], axis, &out[2], &out[3]);
      },
      0);
}

TEST(GpuScan, BestSoFar) {
  for_each_type(Numbers(), []<typename T>() {
    for (const Case& test : kCases) {
      check_best<T>(drawn(dtype_of<T>(), test.dims, 1), test.axis, DataType::INT64);
      check_best<T>(drawn(dtype_of<T>(), test.dims, 1), test.axis, DataType::INT32);
    }
  });
}

TEST(GpuScan, RareNumbers) {
  check_best<float>(rare_tensor<float>({3, 300}), 1, DataType::INT64);
  check_best<float>(rare_tensor<float>({2, 9001}), 1, DataType::INT64);  // in parts
  const DenseTensor x = rare_tensor<float>({3, 300});
  expect_same_on_gpu(
      {x}, {x.meta(), x.meta()}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::cumsum, float>(ctx, in[0], Scalar(1), false, false, false, &out[0]);
        registered<kernels::logcumsumexp, float>(ctx, in[0], 1, false, false, false, &out[1]);
      });
}

}  // namespace
}  // namespace phi::testing
