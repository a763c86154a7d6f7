// Gathers, scatters and table lookups on GPUs, beside the CPU's; and what is said of indices that
// name nothing.
#include "phi/generated/kernels/indexing.h"
#include "phi/generated/kernels/lookup.h"
#include "tests/phi/gpu/same_refusal.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

using Widths = TypeList<bool, bfloat16, float, int64_t, complex128>;
using Inexacts = TypeList<float16, float, double, complex64>;

/// Whole numbers of [low, high).
template <typename Id>
DenseTensor indices(const Dims& dims, int low, int high, uint32_t seed = 9) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> draw(low, high - 1);
  Values values(static_cast<size_t>(dims.numel()));
  for (double& value : values) value = draw(engine);
  return tensor<Id>(values, dims);
}

/// Of arrays of T and indices of both dtypes; `call` is a generic lambda.
template <typename T, typename Call>
void expect_same(const Arrays& arrays, const Dims& index, int low, int high,
                 const std::vector<TensorMeta>& outputs, Call call) {
  for (const bool wide : {false, true}) {
    Arrays in = arrays;
    in.push_back(wide ? indices<int64_t>(index, low, high) : indices<int32_t>(index, low, high));
    expect_same_on_gpu(in, outputs, call);
  }
}

TEST(GpuIndexing, Reads) {
  for_each_type(Widths(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const DenseTensor x = drawn(t, {7, 5, 12}, 1);
    expect_same<T>({x}, {9}, -5, 5, {{{7, 9, 12}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::index_select, T>(ctx, in[0], in[1], 1, &out[0]);
                   });
    expect_same<T>({x}, {9}, 0, 7, {{{9, 5, 12}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::gather, T>(ctx, in[0], in[1], Scalar(0), &out[0]);
                   });
    expect_same<T>({x}, {3, 4, 2}, -5, 5, {{{3, 4, 12}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::gather_nd, T>(ctx, in[0], in[1], &out[0]);
                   });
    expect_same<T>({x}, {0}, 0, 5, {{{7, 0, 12}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::index_select, T>(ctx, in[0], in[1], 1, &out[0]);
                   });
    expect_same<T>({x}, {7, 3, 12}, -5, 5, {{{7, 3, 12}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::take_along_axis, T>(ctx, in[0], in[1], 1, &out[0]);
                   });
    expect_same_on_gpu({x}, {{{7, 12}, t}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::index_select_strided, T>(ctx, in[0], -2, 1, &out[0]);
    });
  });
}

TEST(GpuIndexing, GradientsOfReads) {
  for_each_type(Inexacts(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    expect_same<T>({drawn(t, {7, 900, 3}, 1)}, {900}, -5, 5, {{{7, 5, 3}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::index_select_grad, T>(ctx, in[1], in[0], 1, &out[0]);
                   });
    expect_same<T>({drawn(t, {40, 6}, 1)}, {40}, 0, 300, {{{300, 6}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::gather_grad, T>(ctx, in[1], in[0], Scalar(0), &out[0]);
                   });
    expect_same<T>({drawn(t, {30, 4}, 1)}, {30, 2}, -3, 3, {{{3, 5, 4}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::gather_nd_grad, T>(ctx, in[1], in[0], &out[0]);
                   });
    expect_same<T>({drawn(t, {4, 50}, 1)}, {4, 50}, -6, 6, {{{4, 6}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::take_along_axis_grad, T>(ctx, in[1], in[0], 1, &out[0]);
                   });
    expect_same_on_gpu({drawn(t, {7, 12}, 1)}, {{{7, 5, 12}, t}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::index_select_strided_grad, T>(ctx, in[0], -2, 1,
                                                                           &out[0]);
                       });
  });
}

TEST(GpuIndexing, Writes) {
  for_each_type(TypeList<int8_t, bfloat16, float, int64_t, complex128>(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const DenseTensor x = drawn(t, {6, 10}, 1);
    for (const bool overwrite : {false, true}) {
      expect_same<T>({x, drawn(t, {8, 10}, 2)}, {8}, 0, 6, {x.meta()},
                     [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::scatter, T>(ctx, in[0], in[2], in[1], overwrite,
                                                       &out[0]);
                     });
    }
    expect_same<T>({x, drawn(t, {6, 8}, 2)}, {8}, -10, 10, {x.meta()},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::index_add, T>(ctx, in[0], in[2], in[1], 1, &out[0]);
                   });
    expect_same<T>({x, drawn(t, {20}, 2)}, {20, 2}, -6, 6, {},
                   [](const KernelContext& ctx, Arrays& in, Arrays&) {  // in place
                     registered<kernels::scatter_nd_add, T>(ctx, in[0], in[2], in[1], &in[0]);
                   });
  });
}

TEST(GpuIndexing, GradientsOfWrites) {
  for_each_type(Inexacts(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const DenseTensor g = drawn(t, {6, 10}, 1);
    for (const bool overwrite : {false, true}) {
      expect_same<T>({g}, {9}, 0, 6, {g.meta(), {{9, 10}, t}},
                     [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::scatter_grad, T>(ctx, in[1], in[0], overwrite, &out[0],
                                                            &out[1]);
                     });
    }
    expect_same<T>({g}, {8}, -10, 10, {g.meta(), {{6, 8}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::index_add_grad, T>(ctx, in[1], in[0], 1, &out[0], &out[1]);
                   });
  });
}

TEST(GpuIndexing, PutsAndTheirGradients) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const DenseTensor arr = drawn(t, {4, 9}, 1);
    const DenseTensor values = drawn(t, {4, 12}, 2);
    for (const std::string reduce : {"assign", "add", "mul", "mean", "amax", "amin"}) {
      for (const bool include_self : {false, true}) {
        SCOPED_TRACE(reduce);
        expect_same<T>({arr, values, drawn(t, {4, 9}, 3)}, {4, 11}, -9, 9,
                       {arr.meta(), arr.meta(), values.meta()},
                       [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::put_along_axis, T>(ctx, in[0], in[3], in[1], 1, reduce,
                                                                include_self, &out[0]);
                         registered<kernels::put_along_axis_grad, T>(
                             ctx, in[0], in[3], in[1], out[0], in[2], 1, reduce, include_self,
                             &out[1], &out[2]);
                       });
      }
    }
  });
}

TEST(GpuIndexing, ValuesAreSetInSlicesWithSteps) {
  const std::vector<int64_t> axes{0, 1};
  const IntArray starts(std::vector<int64_t>{6, 1});
  const IntArray ends(std::vector<int64_t>{0, 8});
  const IntArray steps(std::vector<int64_t>{-2, 3});
  const std::vector<int64_t> none;
  for_each_type(Inexacts(), [&]<typename T>() {
    const DataType t = dtype_of<T>();
    const DenseTensor x = drawn(t, {7, 9}, 1);
    for (const Dims& dims : {Dims{3, 3}, Dims{1, 3}, Dims{}}) {
      expect_same_on_gpu({x, drawn(t, dims, 2)}, {x.meta(), x.meta(), {dims, t}, x.meta()},
                         [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::set_value_with_tensor, T>(
                               ctx, in[0], in[1], starts, ends, steps, axes, none, none, &out[0]);
                           registered<kernels::set_value_with_tensor_grad, T>(
                               ctx, in[0], starts, ends, steps, axes, none, none, &out[1], &out[2]);
                           registered<kernels::set_value, T>(
                               ctx, in[0], starts, ends, steps, axes, none, none,
                               std::vector<int64_t>{1, 3},
                               std::vector<Scalar>{Scalar(1), Scalar(2), Scalar(3)}, &out[3]);
                         });
    }
    expect_same_on_gpu({x}, {{{3, 4}, t}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::set, T>(ctx, in[0], std::vector<int64_t>{2, 5},
                                  static_cast<int64_t>(3 * sizeof(T)), &out[0]);
    });
  });
}

TEST(GpuIndexing, WhatSeveralIndicesNameIsPut) {
  for_each_type(Inexacts(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const DenseTensor x = drawn(t, {4, 5, 3}, 1);
    const DenseTensor rows = indices<int64_t>({6, 1}, -4, 4);
    const DenseTensor columns = indices<int32_t>({2}, 0, 5);
    DenseTensor mask = drawn(DataType::BOOL, {4, 5}, 3, 0, 1);
    for (int64_t i = 0; i < mask.numel(); ++i) mask.mutable_data<bool>()[i] = i % 7 == 2;
    const DenseTensor line = drawn(t, {9000}, 1);  // so many that several blocks count them
    const DenseTensor of_line = drawn(DataType::BOOL, line.dims(), 3, 0, 2);
    for (const bool accumulate : {false, true}) {
      expect_same_on_gpu(
          {x, rows, columns, drawn(t, {2, 3}, 2)}, {x.meta(), x.meta(), {{2, 3}, t}},
          [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
            const std::array<const DenseTensor*, 2> list = {&in[1], &in[2]};
            registered<kernels::index_put, T>(ctx, in[0], list, in[3], accumulate, &out[0]);
            registered<kernels::index_put_grad, T>(ctx, list, in[0], accumulate, &out[1], &out[2]);
          },
          2);
      const auto put = [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
        const std::array<const DenseTensor*, 1> list = {&in[1]};
        registered<kernels::index_put, T>(ctx, in[0], list, in[2], accumulate, &out[0]);
        registered<kernels::index_put_grad, T>(ctx, list, in[0], accumulate, &out[1], &out[2]);
      };
      expect_same_on_gpu({x, mask, drawn(t, {3}, 2)}, {x.meta(), x.meta(), {{3}, t}}, put, 2);
      const DenseTensor value = drawn(t, {1}, 2);
      expect_same_on_gpu({line, of_line, value}, {line.meta(), line.meta(), value.meta()}, put, 2);
    }
  });
}

TEST(GpuLookup, EmbeddingsAndTheirGradients) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const DenseTensor weight = drawn(t, {60, 24}, 1);
    for (const int64_t padding : {-1, 3}) {
      expect_same<T>({weight}, {5, 40}, 0, 60, {{{5, 40, 24}, t}},
                     [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::embedding, T>(ctx, in[1], in[0], padding, &out[0]);
                     });
      expect_same<T>({drawn(t, {5, 40, 24}, 2)}, {5, 40}, 0, 60, {weight.meta()},
                     [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::embedding_grad, T>(ctx, in[1], in[0], padding, &out[0]);
                     });
    }
    expect_same<T>({drawn(t, {5, 40, 24}, 2)}, {5, 40}, 0, 60, {weight.meta()},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::embedding_with_scaled_gradient_grad, T>(ctx, in[1], in[0],
                                                                                 7, &out[0]);
                   });
    expect_same<T>({weight}, {30}, 0, 100, {{{30, 24}, t}},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::c_embedding, T>(ctx, in[0], in[1], 20, &out[0]);
                   });
    expect_same<T>({drawn(t, {30, 24}, 2)}, {30}, 0, 100, {weight.meta()},
                   [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::c_embedding_grad, T>(ctx, in[1], in[0], 20, &out[0]);
                   });
  });
  expect_same_on_gpu({indices<int64_t>({9, 3}, 0, 11)}, {{{9, 3, 11}, DataType::FLOAT32}},
                     [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::one_hot, int64_t>(ctx, in[0], &out[0]);
                     });
}

TEST(GpuIndexing, IndicesThatNameNothingAreRefusedInTheCpusWords) {
  const DenseTensor x = drawn(DataType::FLOAT32, {5, 4}, 1);
  expect_same_refusal({x, tensor<int32_t>({0, 4, -6, 9}, {4})}, {{{4, 4}, DataType::FLOAT32}},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::index_select, float>(ctx, in[0], in[1], 0, &out[0]);
                      });
  expect_same_refusal({x, tensor<int64_t>({0, 3, 4, 4}, {2, 2})}, {{{2}, DataType::FLOAT32}},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::gather_nd, float>(ctx, in[0], in[1], &out[0]);
                      });
  expect_same_refusal({x, tensor<int64_t>({0, 5}, {2})}, {{{2, 4}, DataType::FLOAT32}},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::embedding, float>(ctx, in[1], in[0], -1, &out[0]);
                      });
  expect_same_refusal({x, tensor<int64_t>({0, -6}, {2})}, {{{2, 4}, DataType::FLOAT32}},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::gather, float>(ctx, in[0], in[1], Scalar(0), &out[0]);
                      });
}

}  // namespace
}  // namespace phi::testing
