// Shape and dtype inference of Fourier transforms and of framed signals.
#include "phi/infermeta/fft.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

void check_transform(const TensorMeta& x, const std::vector<int64_t>& axes,
                     const std::string& normalization) {
  AxisSet seen;
  for (int64_t axis : axes) {
    PHI_CHECK(axis >= 0 && axis < x.dims.ndim(),
              errors::InvalidArgument("axes has {}, but x is {}; its tensor dims are counted from "
                                      "the front, 0 to {}.",
                                      axis, x.to_string(), x.dims.ndim() - 1));
    PHI_CHECK(
        !seen.has(static_cast<int>(axis)),
        errors::InvalidArgument("axes has {} twice, but a tensor dim is transformed once.", axis));
    seen.add(static_cast<int>(axis));
  }
  PHI_CHECK(normalization == "backward" || normalization == "forward" || normalization == "ortho",
            errors::InvalidArgument("normalization is '{}', but it must be 'backward', 'forward' "
                                    "or 'ortho'.",
                                    normalization));
}

/// The axis along which half of the elements determine all, by symmetry.
int last_axis(const std::vector<int64_t>& axes) {
  PHI_CHECK(!axes.empty(), errors::InvalidArgument("axes is empty, but a transform between real "
                                                   "and complex numbers is along one at least."));
  return static_cast<int>(axes.back());
}

void check_fft_complex(const TensorMeta& x) {
  PHI_CHECK(is_complex(x.dtype),
            errors::InvalidArgument("x is {}, but it must be complex64 or complex128; cast it, or "
                                    "use fft_r2c.",
                                    x.to_string()));
}
void check_real(const TensorMeta& x) {
  PHI_CHECK(x.dtype == DataType::FLOAT32 || x.dtype == DataType::FLOAT64,
            errors::InvalidArgument("x is {}, but it must be float32 or float64; cast it.",
                                    x.to_string()));
}

void check_hop(int hop_length) {
  PHI_CHECK(
      hop_length >= 1,
      errors::InvalidArgument("hop_length is {}, but it must be at least 1 element.", hop_length));
}
void check_ends(const TensorMeta& x, int axis, int least) {
  PHI_CHECK(axis == 0 || axis == -1,
            errors::InvalidArgument("axis is {}, but frames are along the first tensor dim, 0, or "
                                    "the last one, -1; transpose x.",
                                    axis));
  PHI_CHECK(x.dims.ndim() >= least,
            errors::InvalidArgument("x is {}, but it needs {} tensor dims or more.", x.to_string(),
                                    least));
}

/// The number of whole frames.
int64_t frames_in(int64_t extent, int64_t frame_length, int hop_length) {
  PHI_CHECK(frame_length >= 1 && extent >= frame_length,
            errors::InvalidArgument("a frame has {} elements and the signal {}, but there must be "
                                    "one whole frame of 1 or more.",
                                    frame_length, extent));
  return 1 + (extent - frame_length) / hop_length;
}

}  // namespace

TensorMeta FFTC2CInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization) {
  check_fft_complex(x);
  check_transform(x, axes, normalization);
  return x;
}

TensorMeta FFTR2CInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization, bool onesided) {
  check_real(x);
  check_transform(x, axes, normalization);
  TensorMeta out{x.dims, complex_of(x.dtype), x.layout};
  int64_t& extent = out.dims[last_axis(axes)];
  PHI_CHECK(
      extent != 0,
      errors::InvalidArgument(
          "x {} has no elements to transform along tensor dim {}; it needs 1 element or more.",
          x.to_string(), axes.back()));
  if (onesided) extent = extent / 2 + 1;
  return out;
}

TensorMeta FFTC2RInferMeta(const TensorMeta& x, const std::vector<int64_t>& axes,
                           const std::string& normalization, int64_t last_dim_size) {
  check_fft_complex(x);
  check_transform(x, axes, normalization);
  TensorMeta out{x.dims, real_part_of(x.dtype), x.layout};
  int64_t& extent = out.dims[last_axis(axes)];
  const int64_t given = extent;
  extent = last_dim_size != 0 ? last_dim_size : extent_times(given - 1, 2);
  PHI_CHECK(extent >= 1 && given >= extent / 2 + 1,
            errors::InvalidArgument("x {} has {} elements along tensor dim {}, but {} real ones "
                                    "(last_dim_size {}) need half of them and one more.",
                                    x.to_string(), given, axes.back(), extent, last_dim_size));
  return out;
}

TensorMeta StftInferMeta(const TensorMeta& x, const TensorMeta& window, int n_fft, int hop_length,
                         bool onesided) {
  check_real(x);
  check_hop(hop_length);
  PHI_CHECK(x.dims.ndim() == 2 && window.dims == Dims{n_fft} && window.dtype == x.dtype,
            errors::InvalidArgument("x is {}, window is {} and n_fft is {}, but x has 2 tensor "
                                    "dims and the window n_fft elements of x's dtype.",
                                    x.to_string(), window.to_string(), n_fft));
  const int64_t frequencies = onesided ? n_fft / 2 + 1 : n_fft;
  return {{x.dims[0], frequencies, frames_in(x.dims[1], n_fft, hop_length)},
          complex_of(x.dtype),
          x.layout};
}

TensorMeta FrameInferMeta(const TensorMeta& x, int frame_length, int hop_length, int axis) {
  check_ends(x, axis, 1);
  check_hop(hop_length);
  const int ndim = x.dims.ndim();
  const int64_t frames = frames_in(axis == 0 ? x.dims[0] : x.dims.back(), frame_length, hop_length);
  Dims dims;
  if (axis == 0) dims = {frames, frame_length};
  for (int d = axis == 0 ? 1 : 0; d < ndim + axis; ++d) dims.push_back(x.dims[d]);
  if (axis == -1) {
    dims.push_back(frame_length);
    dims.push_back(frames);
  }
  return {dims, x.dtype, x.layout};
}

TensorMeta OverlapAddInferMeta(const TensorMeta& x, int hop_length, int axis) {
  check_ends(x, axis, 2);
  check_hop(hop_length);
  const int ndim = x.dims.ndim();
  const int64_t frames = axis == 0 ? x.dims[0] : x.dims[ndim - 1];
  const int64_t frame_length = axis == 0 ? x.dims[1] : x.dims[ndim - 2];
  PHI_CHECK(frames != 0, errors::InvalidArgument("x is {} and has no frame to add; it needs 1 or "
                                                 "more.",
                                                 x.to_string()));
  PHI_CHECK(frame_length == kUnknownDim || hop_length <= frame_length,
            errors::InvalidArgument("hop_length is {}, but the frames of x {} have {} elements: "
                                    "they would leave gaps; pass at most that.",
                                    hop_length, x.to_string(), frame_length));
  const int64_t length = frames == kUnknownDim
                             ? frames
                             : extent_plus(frame_length, extent_times(frames - 1, hop_length));
  Dims dims;
  if (axis == 0) dims.push_back(length);
  for (int d = axis == 0 ? 2 : 0; d < (axis == 0 ? ndim : ndim - 2); ++d) dims.push_back(x.dims[d]);
  if (axis == -1) dims.push_back(length);
  return {dims, x.dtype, x.layout};
}

}  // namespace phi
