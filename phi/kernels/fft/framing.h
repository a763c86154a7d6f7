// Framing: signals in overlapping frames, shared by the kernels of all devices.
#pragma once

#include <cstdint>
#include <type_traits>

#include "phi/common/dims.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// A signal [outer, length, inner] and its frames. For axis 0 (outer is 1) the frames are
/// [frames, frame_length, inner]; for axis -1 (inner is 1) they are [outer, frame_length, frames].
struct Framing {
  Framing(const Dims& signal, const Dims& frames_dims, int hop_length, int axis) : hop(hop_length) {
    first = axis == 0;
    length = first ? signal[0] : signal.back();
    outer = first ? 1 : signal.numel(0, signal.ndim() - 1);
    inner = first ? signal.numel(1, signal.ndim()) : 1;
    const int n = frames_dims.ndim();
    frames = first ? frames_dims[0] : frames_dims[n - 1];
    frame_length = first ? frames_dims[1] : frames_dims[n - 2];
    frame_step = first ? frame_length * inner : 1;
    element_step = first ? inner : frames;
  }
  /// The offset of element `e` of frame `f` in the array of frames.
  PHI_HD int64_t at(int64_t o, int64_t f, int64_t e) const {
    return o * frame_length * frames + f * frame_step + e * element_step;
  }

  bool first;  // axis 0
  int64_t hop, length, outer, inner, frames, frame_length, frame_step, element_step;
};

/// The type in which frames are added. Integers wrap around.
template <typename T>
using frame_sum_t = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<int64_t>,
                                                std::type_identity<compute_t<T>>>::type;

}  // namespace phi
