// Where elements lie that indices name one by one along an axis of an array, as take_along_axis has
// them.
//
//   const ElementPlaces places(arr.dims(), indices.dims(), out->dims(), axis);
//   visit_indices(indices, [&](const auto* ids) {
//     places.for_each(ids, [&](int64_t in_arr, int64_t in_out) { to[in_out] = from[in_arr]; });
//   });
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/dims.h"
#include "phi/kernels/cpu/indexing/indices.h"
#include "phi/kernels/cpu/strided_walk.h"

namespace phi {

/// Where the elements lie that `indices` names along `axis` of an array, beside those of a second
/// array that has an element for each index, or more.
class ElementPlaces {
 public:
  ElementPlaces(const Dims& array, const Dims& indices, const Dims& second, int axis)
      : extent_(array[axis]) {
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

  /// Calls f(offset in the array, offset in the second one) for each index, in their order. They
  /// are checked.
  template <typename Id, typename F>
  void for_each(const Id* ids, F&& f) const {
    if (row_ == 0) return;
    // Rows along the axis itself, the usual ones, need no multiplications.
    const bool is_along = step_[0] == 0 && step_[1] == 1 && stride_ == 1;
    walk_.for_each([&](const std::array<int64_t, 2>& at) {
      if (is_along) {
        for (int64_t i = 0; i < row_; ++i) f(at[0] + from_front(ids[i], extent_), at[1] + i);
      } else {
        for (int64_t i = 0; i < row_; ++i) {
          f(at[0] + i * step_[0] + from_front(ids[i], extent_) * stride_, at[1] + i * step_[1]);
        }
      }
      ids += row_;
    });
  }

 private:
  StridedWalk<2> walk_;
  int64_t extent_;
  int64_t stride_ = 1;
  int64_t row_ = 1;
  std::array<int64_t, 2> step_{};
};

}  // namespace phi
