// ElementPositions: positions of elements that indices select one by one along an axis, as in
// take_along_axis.
//
//   const ElementPositions places(arr.dims(), indices.dims(), out->dims(), axis);
//   places.for_each(IndexBlocks(indices, "indices", arr.dims()[axis], FromEnd::kYes),
//                   [&](int64_t in_arr, int64_t in_out) { to[in_out] = from[in_arr]; });
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "phi/common/dims.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/indexing/indices.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

/// Offsets of the elements that `indices` select along `axis` of an array, paired with offsets in a
/// second array, whose dims are at least those of `indices`.
class ElementPositions {
 public:
  ElementPositions(const Dims& array, const Dims& indices, const Dims& second, int axis) {
    const Dims strides = array.strides();
    const Dims second_strides = second.strides();
    for (int d = 0; d < indices.ndim(); ++d) {
      walk_.append(indices[d], {d == axis ? 0 : strides[d], second_strides[d]});
    }
    stride_ = strides[axis];
    const int last = walk_.ndim() - 1;
    if (last < 0) return;
    row_ = walk_.size(last);
    step_ = {walk_.stride(last, 0), walk_.stride(last, 1)};
    walk_.remove(last);
  }

  /// Calls f(offset in the array, offset in the second array) for all indices in their order.
  /// `blocks` reads the indices.
  ///
  /// Errors   those of `blocks`, after the calls for the blocks before.
  template <typename F>
  void for_each(IndexBlocks&& blocks, F&& f) const {
    const auto run_f = [this, &f](const std::array<int64_t, 2>& at, const int64_t* ids,
                                  int64_t count) { run(at, ids, count, f); };
    using RunF = decltype(run_f);
    walk(blocks, {[](const void* of, const std::array<int64_t, 2>& at, const int64_t* ids,
                     int64_t count) { (*static_cast<const RunF*>(of))(at, ids, count); },
                  &run_f});
  }

 private:
  /// The loop over a run of indices: the only part of the walk that is instantiated per f.
  struct RunFunction {
    void (*run)(const void* of, const std::array<int64_t, 2>& at, const int64_t* ids,
                int64_t count);
    const void* of;
  };

  void walk(IndexBlocks& blocks, RunFunction f) const {
    if (row_ == 0) return;
    std::span<const int64_t> block;
    walk_.for_each([&](const std::array<int64_t, 2>& at) {
      for (int64_t done = 0; done < row_;) {
        if (block.empty()) block = blocks.next();
        const auto left = static_cast<int64_t>(block.size());
        const int64_t count = left < row_ - done ? left : row_ - done;
        f.run(f.of, {at[0] + done * step_[0], at[1] + done * step_[1]}, block.data(), count);
        block = block.subspan(static_cast<size_t>(count));
        done += count;
      }
    });
  }

  template <typename F>
  void run(const std::array<int64_t, 2>& at, const int64_t* ids, int64_t count, F& f) const {
    // Rows along the axis itself are the usual case and need no multiplications.
    if (step_[0] == 0 && step_[1] == 1 && stride_ == 1) {
#pragma GCC unroll 4
      for (int64_t i = 0; i < count; ++i) f(at[0] + ids[i], at[1] + i);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        f(at[0] + i * step_[0] + ids[i] * stride_, at[1] + i * step_[1]);
      }
    }
  }

  StridedWalk<2> walk_;
  int64_t stride_ = 1;
  int64_t row_ = 1;
  std::array<int64_t, 2> step_{};
};

// Device primitives (gpu/indexing/elements.h has the GPU's).

/// Sets out to the elements of arr that `indices` select along `axis`.
template <typename T>
void take_elements(const CpuContext&, const DenseTensor& arr, const DenseTensor& indices, int axis,
                   const char* name, FromEnd from_end, DenseTensor* out) {
  using W = width_t<T>;
  const auto* from = static_cast<const W*>(arr.raw_data());
  auto* to = static_cast<W*>(out->mutable_raw_data());
  const ElementPositions places(arr.dims(), indices.dims(), out->dims(), axis);
  places.for_each({indices, name, arr.dims()[axis], from_end},
                  [=](int64_t in_arr, int64_t in_out) { to[in_out] = from[in_arr]; });
}

/// The gradient of take_elements: sums the gradients of each element's copies, in float for half
/// precision.
template <typename T>
void add_elements(const CpuContext&, const DenseTensor& indices, int axis,
                  const DenseTensor& out_grad, DenseTensor* arr_grad) {
  using C = compute_t<T>;
  const T* from = out_grad.data<T>();
  std::vector<C> wide(kIs16Bit<T> ? static_cast<size_t>(arr_grad->numel()) : 0);
  C* sums = wide.data();
  if constexpr (!kIs16Bit<T>) sums = arr_grad->mutable_data<T>();
  std::fill_n(sums, arr_grad->numel(), C(0));
  const ElementPositions places(arr_grad->dims(), indices.dims(), out_grad.dims(), axis);
  places.for_each(
      {indices, "indices", arr_grad->dims()[axis], FromEnd::kYes},
      [=](int64_t in_arr, int64_t in_out) { sums[in_arr] += static_cast<C>(from[in_out]); });
  if constexpr (kIs16Bit<T>) convert(sums, arr_grad->mutable_data<T>(), arr_grad->numel());
}

}  // namespace phi
