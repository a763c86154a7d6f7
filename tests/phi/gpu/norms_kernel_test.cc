// Norms over tensor dims, log-sum-exp, their gradients, argmax and clipping on GPUs, beside the
// CPU's.
#include "phi/common/inexact.h"
#include "phi/generated/kernels/norms.h"
#include "phi/generated/kernels/reduction.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Case {
  Dims dims;
  int axis;
};
const std::vector<Case> kCases = {{{0, 4}, 1},    {{1}, 0},        {{40, 3}, 1},
                                  {{3, 150}, 1},  {{2, 2500}, -1}, {{4, 70, 3}, 1},
                                  {{6, 8200}, 0}, {{3, 2, 300}, 1}};

Dims without(const Case& test) {
  const int axis = test.axis < 0 ? test.axis + test.dims.ndim() : test.axis;
  Dims kept;
  for (int d = 0; d < test.dims.ndim(); ++d) {
    if (d != axis) kept.push_back(test.dims[d]);
  }
  return kept;
}

template <typename T>
void check_p_norm(const Case& test, float p) {
  const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1);
  const TensorMeta meta{without(test), dtype_of<T>()};
  const auto norm = [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::p_norm, T>(ctx, in[0], p, test.axis, false, &out[0]);
  };
  expect_same_on_gpu({x}, {meta}, norm);
  const DenseTensor norms = left_on_cpu({x}, {meta}, norm)[1];
  expect_same_on_gpu({x, norms, drawn(dtype_of<T>(), meta.dims, 2)}, {x.meta()},
                     [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::p_norm_grad, T>(ctx, in[0], in[1], in[2], p, test.axis,
                                                           0.25f, false, &out[0]);
                     });
}

TEST(GpuNorms, OfEachOrder) {
  for_each_type(Floats(), []<typename T>() {
    for (const Case& test : kCases) {
      for (const float p : {2.0f, 1.0f, 0.0f, 3.0f, INFINITY, -INFINITY}) {
        SCOPED_TRACE(test.dims.to_string() + " order " + std::to_string(p));
        check_p_norm<T>(test, p);
      }
    }
  });
}

TEST(GpuNorms, Frobenius) {
  for_each_type(Floats(), []<typename T>() {
    const DenseTensor x = drawn(dtype_of<T>(), {7, 5, 90}, 1);
    const IntArray axes({0, 2});
    expect_same_on_gpu({x, drawn(dtype_of<T>(), {5}, 2, 1, 2), drawn(dtype_of<T>(), {5}, 3)},
                       {{{5}, dtype_of<T>()}, {{}, dtype_of<T>()}, x.meta()},
                       [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::frobenius_norm, T>(ctx, in[0], axes, false, &out[0]);
                         registered<kernels::frobenius_norm, T>(ctx, in[0], axes, true, &out[1]);
                         registered<kernels::frobenius_norm_grad, T>(ctx, in[0], in[1], in[2], axes,
                                                                     false, &out[2]);
                       });
  });
}

template <typename T>
void check_log_sum_exp(const DenseTensor& x, const std::vector<int64_t>& axes, const Dims& kept) {
  const TensorMeta meta{kept, dtype_of<T>()};
  const auto sums = [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::logsumexp, T>(ctx, in[0], axes, false, &out[0]);
  };
  expect_same_on_gpu({x}, {meta}, sums);
  const DenseTensor out = left_on_cpu({x}, {meta}, sums)[1];
  expect_same_on_gpu({x, out, drawn(dtype_of<T>(), kept, 2)}, {x.meta()},
                     [&](const KernelContext& ctx, Arrays& in, Arrays& result) {
                       registered<kernels::logsumexp_grad, T>(ctx, in[0], in[1], in[2], axes, false,
                                                              &result[0]);
                     });
}

TEST(GpuNorms, LogSumExp) {
  for_each_type(Floats(), []<typename T>() {
    for (const Case& test : kCases) {
      SCOPED_TRACE(test.dims.to_string());
      check_log_sum_exp<T>(drawn(dtype_of<T>(), test.dims, 1, -6, 6), {test.axis}, without(test));
    }
    check_log_sum_exp<T>(drawn(dtype_of<T>(), {5, 7, 300}, 1), {0, 2}, {7});
  });
  const double inf = INFINITY;
  check_log_sum_exp<float>(tensor<float>({-inf, -inf, -inf, -inf, -inf, inf,  -inf,  1,    inf, 2,
                                          1,    NAN,  2,    3,    4,    1e30, -1e30, 1e30, 0,   0},
                                         {4, 5}),
                           {1}, {4});
  // The largest element so far is another one all the time, and lies in other parts of a line.
  Values rising(40000);
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<double>(i) / 64 - 200;
  check_log_sum_exp<float>(tensor<float>(rising, {2, 20000}), {1}, {2});
  check_log_sum_exp<float>(tensor<float>(rising, {20000, 2}), {0}, {2});
  rising[15000] = rising[39999] = inf;
  check_log_sum_exp<float>(tensor<float>(rising, {40000}), {0}, {});
}

template <typename T>
void check_arg(const DenseTensor& x, int axis, bool flatten, const Dims& kept) {
  for (const DataType index : {DataType::INT64, DataType::INT32}) {
    expect_same_on_gpu({x}, {{kept, index}, {kept, index}},
                       [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::argmax, T>(ctx, in[0], Scalar(axis), flatten, &out[0]);
                         registered<kernels::argmin, T>(ctx, in[0], Scalar(axis), flatten, &out[1]);
                       });
  }
}

TEST(GpuNorms, PlacesOfExtremes) {
  for_each_type(join_t<TypeList<int16_t>, Numbers>(), []<typename T>() {
    for (const Case& test : kCases) {
      SCOPED_TRACE(test.dims.to_string());
      const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1);
      check_arg<T>(x, test.axis, false, without(test));
      if (x.numel() > 0) check_arg<T>(x, 0, true, {});
    }
  });
  check_arg<float>(rare_tensor<float>({3, 300}), 1, false, {3});
  // Few lines so long that several blocks go along each; equal elements lie in parts of several.
  Values steps(40000);
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i] = std::floor(static_cast<double>(i * 7919 % 40000) / 8);
  check_arg<float>(tensor<float>(steps, {40000}), 0, false, {});
  check_arg<int64_t>(tensor<int64_t>(steps, {2, 20000}), 1, false, {2});
  check_arg<float>(tensor<float>(steps, {20000, 2}), 0, false, {2});
  check_arg<float>(tensor<float>(steps, {2, 10000, 2}), 1, false, {2, 2});
  steps[12345] = steps[31000] = NAN;
  check_arg<float>(tensor<float>(steps, {40000}), 0, true, {});
  check_arg<float>(tensor<float>(steps, {2, 20000}), 1, false, {2});
}

template <typename T>
void check_unit_norms(const Case& test) {
  Dims norms = test.dims;
  norms[test.axis < 0 ? test.axis + test.dims.ndim() : test.axis] = 1;
  const DenseTensor x = drawn(dtype_of<T>(), test.dims, 1);
  expect_same_on_gpu(
      {x, drawn(dtype_of<T>(), test.dims, 2)}, {x.meta(), {norms, dtype_of<T>()}, x.meta()},
      [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::norm, T>(ctx, in[0], test.axis, 1e-5f, false, &out[0], &out[1]);
        registered<kernels::norm_grad, T>(ctx, in[0], in[1], test.axis, 1e-5f, &out[2]);
      });
  for (const float p : {2.0f, 1.0f, 3.0f, INFINITY}) {
    expect_same_on_gpu({x, drawn(dtype_of<T>(), test.dims, 2)}, {x.meta(), x.meta()},
                       [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::renorm, T>(ctx, in[0], p, test.axis, 3.0f, &out[0]);
                         registered<kernels::renorm_grad, T>(ctx, in[0], in[1], p, test.axis, 3.0f,
                                                             &out[1]);
                       });
  }
}

TEST(GpuNorms, ToALength) {
  for_each_type(Floats(), []<typename T>() {
    for (const Case& test : kCases) {
      SCOPED_TRACE(test.dims.to_string());
      check_unit_norms<T>(test);
    }
  });
}

TEST(GpuNorms, Traces) {
  for_each_type(join_t<Integers, Inexact>(), []<typename T>() {
    for (const int offset : {0, 2, -3, 500}) {
      const DenseTensor x = drawn(dtype_of<T>(), {3, 40, 5, 300}, 1);
      expect_same_on_gpu({x}, {{{3, 5}, dtype_of<T>()}, {{40, 300}, dtype_of<T>()}},
                         [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::trace, T>(ctx, in[0], offset, 1, -1, &out[0]);
                           registered<kernels::trace, T>(ctx, in[0], offset, 0, 2, &out[1]);
                         });
    }
  });
  for_each_type(Inexact(), []<typename T>() {
    for (const int offset : {0, 2, -3}) {
      expect_same_on_gpu({drawn(dtype_of<T>(), {3, 5}, 1)}, {{{3, 40, 5, 30}, dtype_of<T>()}},
                         [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::trace_grad, T>(ctx, in[0], offset, 1, 3, &out[0]);
                         });
    }
  });
}

// Diagonals that a block has.
TEST(GpuNorms, LongTraces) {
  for_each_type(join_t<Integers, Inexact>(), []<typename T>() {
    const DenseTensor x = drawn(dtype_of<T>(), {1100, 1030}, 1);
    expect_same_on_gpu({x}, {{{}, dtype_of<T>()}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::trace, T>(ctx, in[0], -3, 0, 1, &out[0]);
                       });
  });
  for_each_type(Inexact(), []<typename T>() {
    expect_same_on_gpu({drawn(dtype_of<T>(), {}, 1)}, {{{1100, 1030}, dtype_of<T>()}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::trace_grad, T>(ctx, in[0], 2, 0, 1, &out[0]);
                       });
  });
}

TEST(GpuNorms, Clipping) {
  for_each_type(Floats(), []<typename T>() {
    for (const float most : {3.0f, 1e6f}) {
      for (const Dims& dims : {Dims{}, Dims{0}, Dims{300, 7}, Dims{20000}}) {
        const DenseTensor x = drawn(dtype_of<T>(), dims, 1);
        expect_same_on_gpu({x}, {x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::clip_by_norm, T>(ctx, in[0], most, &out[0]);
        });
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
