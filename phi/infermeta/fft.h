// Shape and dtype inference of Fourier transforms and of signals in frames.
//
//   const TensorMeta x{{3, 16}, DataType::FLOAT32};
//   FFTR2CInferMeta(x, {1}, "backward", true).dims == Dims{3, 9};   // complex64
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

// Errors of the three transforms: InvalidArgument for an unsupported dtype, for axes that are
// negative, out of range or repeated, and for a normalization other than "backward", "forward" and
// "ortho".

/// Returns the meta of x, which is complex.
TensorMeta FFTC2CInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization);
/// Complex, for a real x. `onesided` omits the second half of the last of `axes`, which mirrors the
/// first. Errors: also InvalidArgument for an axis without elements.
TensorMeta FFTR2CInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization, bool onesided);
/// Real, for a complex x that holds the first half of the last of `axes`. With n = last_dim_size (2
/// (extent - 1) if that is 0), x must have at least n / 2 + 1 elements there. Errors: also
/// InvalidArgument for fewer.
TensorMeta FFTC2RInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization, int64_t last_dim_size);

/// Complex [n, frequencies, frames] for x [n, t] and window [n_fft]. There are n_fft / 2 + 1
/// frequencies if `onesided` and n_fft otherwise, and one frame per hop_length while a whole frame
/// fits. Errors: InvalidArgument for other shapes, a hop_length below 1, or a signal shorter than
/// one frame.
TensorMeta StftInferMeta(const TensorMeta& x, const TensorMeta& window, int n_fft, int hop_length,
                         bool onesided);

/// Cuts x into frames: along its last tensor dim (axis -1) into [*, frame_length, frames], or along
/// its first (axis 0) into [frames, frame_length, *]. Errors: InvalidArgument for another axis, a
/// length below 1, or a signal shorter than one frame.
TensorMeta FrameInferMeta(const TensorMeta& x, int frame_length, int hop_length, int axis);
/// The signal that overlapping frames add up to (the transpose of frame). Errors: those of
/// FrameInferMeta.
TensorMeta OverlapAddInferMeta(const TensorMeta& x, int hop_length, int axis);

}  // namespace phi
