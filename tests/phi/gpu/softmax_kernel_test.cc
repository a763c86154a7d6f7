// softmax, log_softmax and their gradients on GPUs, beside the CPU's.
#include "phi/generated/kernels/reduction.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

// Lines of one element, of a warp and of a block, with rest; along the last tensor dim and others;
// rows in packs of 16 bytes, held by a warp and by blocks of each size, and longer ones.
const std::vector<std::pair<Dims, int>> kLines = {
    {{}, -1},          {{1}, 0},       {{0, 3}, 1},     {{3, 0}, 1},     {{5, 1}, -1},
    {{70, 3}, 1},      {{3, 33}, 1},   {{2, 1025}, -1}, {{5, 40, 7}, 1}, {{300, 2}, 0},
    {{2, 3, 9000}, 1}, {{70, 8}, 1},   {{2, 512}, 1},   {{3, 1024}, -1}, {{2, 1032}, 1},
    {{1, 2056}, 1},    {{1, 4104}, 1}, {{2, 8200}, -1}, {{1, 16400}, 1}};

template <typename Name, typename T>
void expect_same_lines() {
  for (const auto& [dims, axis] : kLines) {
    SCOPED_TRACE(dims.to_string() + " axis " + std::to_string(axis));
    const DenseTensor x = drawn(dtype_of<T>(), dims, 1, -6, 6);
    const auto call = [axis = axis](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<Name, T>(ctx, in[0], axis, &out[0]);
    };
    expect_same_on_gpu({x}, {x.meta()}, call);
    const auto in_place = [axis = axis](const KernelContext& ctx, Arrays& in, Arrays&) {
      registered<Name, T>(ctx, in[0], axis, &in[0]);
    };
    expect_same_on_gpu({x}, {}, in_place);
  }
}

template <typename Name, typename Forward, typename T>
void expect_same_gradients() {
  for (const auto& [dims, axis] : kLines) {
    SCOPED_TRACE(dims.to_string() + " axis " + std::to_string(axis));
    const DenseTensor x = drawn(dtype_of<T>(), dims, 1, -6, 6);
    DenseTensor out = DenseTensor::empty(x.meta(), CPUPlace());
    registered<Forward, T>(KernelContext(), x, axis, &out);
    const auto call = [axis = axis](const KernelContext& ctx, Arrays& in, Arrays& result) {
      registered<Name, T>(ctx, in[0], in[1], axis, &result[0]);
    };
    expect_same_on_gpu({out, drawn(dtype_of<T>(), dims, 2)}, {x.meta()}, call, 4);
  }
}

TEST(GpuSoftmax, EveryLine) {
  for_each_type(Floats(), []<typename T>() {
    expect_same_lines<kernels::softmax, T>();
    expect_same_gradients<kernels::softmax_grad, kernels::softmax, T>();
  });
}

TEST(GpuSoftmax, OfItsLogarithm) {
  for_each_type(Floats(), []<typename T>() {
    expect_same_lines<kernels::log_softmax, T>();
    expect_same_gradients<kernels::log_softmax_grad, kernels::log_softmax, T>();
  });
}

// Packs are 16 bytes at multiples of 16: elements that lie otherwise are read one by one.
TEST(GpuSoftmax, ArraysThatBeginBetweenPacks) {
  for_each_type(Floats(), []<typename T>() {
    const DenseTensor x = drawn(dtype_of<T>(), {3, 64}, 1, -6, 6);
    expect_same_on_gpu({x}, {x.meta()}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::softmax, T>(ctx, moved_by_one(in[0]), 1, &out[0]);
    });
  });
}

/// `length` elements: those of `row`, each as often as the others, side by side.
DenseTensor stretched(const Values& row, int64_t length) {
  Values values;
  for (int64_t i = 0; i < length; ++i) values.push_back(row[i * std::ssize(row) / length]);
  return tensor<float>(values, {1, length});
}

// In rows that are gone through in each way: longer ones once for their largest element and the
// sum.
TEST(GpuSoftmax, RareNumbers) {
  const double inf = INFINITY;
  for (const Values& row :
       {Values{1e30, 1e30, -inf, -1e30, 0}, Values{-inf, -inf, -inf, -inf, -inf},
        Values{-inf, -inf, 1, 2, 3}, Values{1, NAN, 2, 3, 4}, Values{inf, 0, 1, -inf, 2},
        Values{-3e38, 0, 3e38, -inf, 1}, Values{NAN, NAN, NAN, NAN, NAN}}) {
    for (const int64_t length : {5, 80, 16400}) {
      const DenseTensor x = stretched(row, length);
      expect_same_on_gpu({x}, {x.meta(), x.meta()},
                         [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::softmax, float>(ctx, in[0], 1, &out[0]);
                           registered<kernels::log_softmax, float>(ctx, in[0], 1, &out[1]);
                         });
    }
  }
}

}  // namespace
}  // namespace phi::testing
