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

// Errors of the three transforms: InvalidArgument for another dtype, for axes that are not counted
// from the front, not there, or given twice, and for a normalization other than "backward",
// "forward" and "ortho".

/// As x, which is complex.
TensorMeta FFTC2CInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization);
/// Complex, of a real x; `onesided` leaves out the second half of the last of axes, which is the
/// first one's mirror image. Errors also: an axis without elements.
TensorMeta FFTR2CInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization, bool onesided);
/// Real, of a complex x that has the first half of the last of axes: n / 2 + 1 elements or more for
/// n = last_dim_size, which is 2 (extent - 1) if it is 0. Errors also: fewer than that.
TensorMeta FFTC2RInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization, int64_t last_dim_size);

/// x [n, t] and window [n_fft] give complex [n, frequencies, frames]: n_fft / 2 + 1 frequencies, or
/// n_fft if not `onesided`, and a frame every hop_length as long as there is a whole one. Errors:
/// InvalidArgument for other shapes, a hop_length below 1, signals shorter than a frame.
TensorMeta StftInferMeta(const TensorMeta& x, const TensorMeta& window, int n_fft, int hop_length,
                         bool onesided);

/// Frames of x along its last tensor dim (axis -1) in [*, frame_length, frames], or along its first
/// (axis 0) in [frames, frame_length, *]. Errors: InvalidArgument for another axis, lengths below 1
/// and signals shorter than a frame.
TensorMeta FrameInferMeta(const TensorMeta& x, int frame_length, int hop_length, int axis);
/// The other way, overlapping parts added up. Errors: as above.
TensorMeta OverlapAddInferMeta(const TensorMeta& x, int hop_length, int axis);

}  // namespace phi
