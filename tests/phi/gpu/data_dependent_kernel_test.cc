// Kernels on GPUs that find the shapes of their outputs, and their gradients, beside the CPU's.
#include "phi/common/inexact.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/generated/kernels/data_movement.h"
#include "phi/generated/kernels/statistics.h"
#include "tests/phi/gpu/same_refusal.h"

namespace phi::testing {
namespace {

/// As expect_same_on_gpu, of `count` outputs that come without a shape.
void expect_found(const Arrays& inputs, DataType dtype, size_t count, const KernelCall& call,
                  double roundings = 1) {
  const std::vector<TensorMeta> nothing(count, TensorMeta{{0}, dtype});
  const Arrays cpu = left_on_cpu(inputs, nothing, call);
  const Arrays gpu = left_on_gpu(inputs, nothing, call);
  for (size_t i = inputs.size(); i < cpu.size(); ++i) {
    EXPECT_EQ(gpu[i].meta(), cpu[i].meta()) << "output " << i - inputs.size();
  }
  expect_same_on_gpu(inputs, nothing, call, roundings);
}

/// Few values, so that many are equal, and NaN, infinities and zeros of both signs.
template <typename T>
DenseTensor with_ties(const Dims& dims, uint32_t seed) {
  DenseTensor x = drawn(dtype_of<T>(), dims, seed, 0, 2.5);
  if constexpr (kIs16Bit<T> || std::is_floating_point_v<T>) {
    const float rare[] = {NAN, INFINITY, -0.0f, 0.0f, -INFINITY, 1.0f};
    for (int64_t i = 0; i < x.numel(); i += 2) {
      x.mutable_data<T>()[i] = T(rare[static_cast<size_t>(i / 2) % std::size(rare)]);
    }
  }
  return x;
}

const Dims kShapes[] = {{}, {0, 4}, {1}, {5, 3, 4}, {9001}, {3, 1}};

TEST(GpuDataDependent, NonzeroElementsAreFound) {
  for_each_type(EveryType(), []<typename T>() {
    SCOPED_TRACE(name_of(dtype_of<T>()));
    for (const Dims& dims : kShapes) {
      DenseTensor x = drawn(dtype_of<T>(), dims, 3, 0, 3);
      for (int64_t i = 0; i < x.numel(); i += 3) x.mutable_data<T>()[i] = T(0.0f);
      expect_found({x}, DataType::INT64, 1, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::nonzero, T>(ctx, in[0], &out[0]);
      });
    }
  });
}

TEST(GpuDataDependent, MasksSelect) {
  const std::pair<Dims, Dims> shapes[] = {{{}, {}},           {{0, 3}, {3}},       {{5, 7}, {5, 7}},
                                          {{5, 7}, {7}},      {{4, 1, 3}, {2, 1}}, {{9001}, {9001}},
                                          {{2, 3}, {4, 1, 3}}};
  for_each_type(EveryType(), [&]<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    for (const auto& [dims, mask_dims] : shapes) {
      const Arrays in = {drawn(t, dims, 1), drawn(DataType::BOOL, mask_dims, 2, 0, 2)};
      const auto select = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::masked_select, T>(ctx, in[0], in[1], &out[0]);
      };
      expect_found(in, t, 1, select);
      if constexpr (kIsComplex<T> || kIs16Bit<T> || std::is_floating_point_v<T>) {
        const Dims chosen = left_on_cpu(in, {{{0}, t}}, select).back().dims();
        expect_same_on_gpu({in[1], drawn(t, chosen, 3)}, {{dims, t}},
                           [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                             registered<kernels::masked_select_grad, T>(ctx, in[0], in[1], &out[0]);
                           });
      }
    }
  });
}

TEST(GpuDataDependent, DifferentItemsStay) {
  for_each_type(AllTypes(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const auto check = [&](const Dims& dims, const std::vector<int>& axis, DataType of_numbers) {
      expect_found({with_ties<T>(dims, 4)}, t, 4,
                   [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::unique, T>(ctx, in[0], true, true, true, axis, of_numbers,
                                                    &out[0], &out[1], &out[2], &out[3]);
                   });
      expect_found({with_ties<T>(dims, 5)}, t, 3,
                   [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::unique_consecutive, T>(
                         ctx, in[0], true, true, axis, of_numbers, &out[0], &out[1], &out[2]);
                   });
    };
    for (const Dims& dims : kShapes) check(dims, {}, DataType::INT64);
    check({700}, {}, DataType::INT32);
    check({37, 2}, {0}, DataType::INT64);
    check({2, 300}, {-1}, DataType::INT32);
    check({2, 33, 1}, {1}, DataType::INT64);
    check({0, 3}, {0}, DataType::INT64);
    check({1, 3}, {0}, DataType::INT64);
  });
}

TEST(GpuDataDependent, IndicesAreRepeated) {
  for_each_type(EveryType(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const auto check = [&](const Dims& dims, int axis, const DenseTensor& repeats) {
      const auto repeat = [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::repeat_interleave_with_tensor_index, T>(ctx, in[0], in[1], axis, -1,
                                                                    &out[0]);
      };
      const Arrays in = {drawn(t, dims, 1), repeats};
      expect_found(in, t, 1, repeat);
      if constexpr (kIsComplex<T> || kIs16Bit<T> || std::is_floating_point_v<T>) {
        const Dims repeated = left_on_cpu(in, {{{0}, t}}, repeat).back().dims();
        expect_same_on_gpu({repeats, drawn(t, repeated, 2)}, {{dims, t}},
                           [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                             registered<kernels::repeat_interleave_with_tensor_index_grad, T>(
                                 ctx, in[0], in[1], axis, &out[0]);
                           });
      }
    };
    check({2, 5, 3}, 1, tensor<int64_t>({0, 3, 1, 0, 2}, {5}));
    check({4, 3}, -2, tensor<int32_t>({2, 0, 0, 1}, {4}));
    check({3, 2}, 0, tensor<int32_t>({2}, {1}));
    check({3, 2}, 0, tensor<int64_t>({0, 0, 0}, {3}));
    check({0, 2}, 0, tensor<int64_t>({}, {0}));
    check({0, 2}, 0, tensor<int64_t>({-1}, {1}));
    // So many that several blocks count them.
    check({9000}, 0, drawn(DataType::INT32, {9000}, 3, 0, 2));
    check({9000}, 0, drawn(DataType::INT64, {9000}, 3, 0, 2));
  });
}

TEST(GpuDataDependent, WhatIsRefusedIsSaidInTheCpusWords) {
  const DenseTensor x = drawn(DataType::FLOAT32, {3, 2}, 1);
  const std::vector<TensorMeta> out = {{{0}, DataType::FLOAT32}};
  expect_same_refusal({x, tensor<int64_t>({1, -2, -3}, {3})}, out,
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::repeat_interleave_with_tensor_index, float>(
                            ctx, in[0], in[1], 0, -1, &out[0]);
                      });
  expect_same_refusal({x, tensor<int64_t>({1, 2, 3}, {3})}, out,
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::repeat_interleave_with_tensor_index, float>(
                            ctx, in[0], in[1], 0, 7, &out[0]);
                      });
  for (const Values& ids : {Values{0, 2, 1}, {-1, 0, 0}, {0, 0, 0x1p41}}) {
    expect_same_refusal(
        {x, tensor<int64_t>(ids, {3})}, out, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::segment_pool, float>(ctx, in[0], in[1], std::string("SUM"), &out[0]);
        });
  }
  for (const Values& wrong : {Values{1, -2, 3}, {1, 2, 0x1p50}}) {
    expect_same_refusal({tensor<int64_t>(wrong, {3})}, {{{0}, DataType::INT64}},
                        [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                          registered<kernels::bincount, int64_t>(ctx, in[0], nullptr, Scalar(0),
                                                                 &out[0]);
                        });
  }
}

TEST(GpuDataDependent, SegmentsArePooled) {
  for_each_type(SignedNumbers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const Values ids = {0, 0, 2, 2, 2, 5, 6, 6};
    for (const char* type : {"SUM", "MEAN", "MAX", "MIN"}) {
      const std::string pooltype = type;
      for (const DenseTensor& segment_ids :
           {tensor<int32_t>(ids, {8}), tensor<int64_t>(ids, {8})}) {
        expect_found({drawn(t, {8, 3, 2}, 1), segment_ids}, t, 1,
                     [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::segment_pool, T>(ctx, in[0], in[1], pooltype, &out[0]);
                     });
      }
      expect_found({drawn(t, {0, 3}, 1), tensor<int64_t>({}, {0})}, t, 1,
                   [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                     registered<kernels::segment_pool, T>(ctx, in[0], in[1], pooltype, &out[0]);
                   });
      if constexpr (!std::is_integral_v<T>) {
        DenseTensor pooled = DenseTensor::empty({{7, 3}, t}, CPUPlace());
        const DenseTensor x = drawn(t, {8, 3}, 1, 0, 0.1);  // with equal elements
        registered<kernels::segment_pool, T>(KernelContext(), x, tensor<int64_t>(ids, {8}),
                                             pooltype, &pooled);
        expect_same_on_gpu({x, tensor<int64_t>(ids, {8}), pooled, drawn(t, {7, 3}, 2)}, {x.meta()},
                           [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                             registered<kernels::segment_pool_grad, T>(ctx, in[0], in[1], in[2],
                                                                       in[3], pooltype, &out[0]);
                           });
      }
    }
  });
}

TEST(GpuDataDependent, ValuesAreCounted) {
  for_each_type(SignedIntegers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{700}, Dims{20000}}) {
      const DenseTensor x = drawn(t, dims, 1, 0, 30);
      expect_found({x}, DataType::INT64, 1, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::bincount, T>(ctx, in[0], nullptr, Scalar(5), &out[0]);
      });
      for (const DataType w : {DataType::FLOAT32, DataType::FLOAT64, DataType::INT32}) {
        const DataType sums = w == DataType::FLOAT32 ? w : DataType::FLOAT64;
        expect_found(
            {x, drawn(w, dims, 2)}, sums, 1,
            [](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::bincount, T>(ctx, in[0], &in[1], Scalar(0), &out[0]);
            },
            0);
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
