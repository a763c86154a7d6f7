// Windows that slide over images: what convolution, pooling, unfold and fold share, shape functions
// and kernels alike.
//
//   const ImageLayout image(data_format);                    // which dims are spatial
//   const Windows windows = make_windows(image.spatial(x.dims), filter_size, attributes);
//   windows[0].positions(extent);                            // how many there are along a dim
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phi/common/dims.h"
#include "phi/common/inline_vector.h"
#include "phi/core/attribute.h"

namespace phi {

/// Where an image [n, c, spatial...] or [n, spatial..., c] has what.
struct ImageLayout {
  bool channels_last;

  /// NCHW, NCDHW, NCL or NCW, or the same with channels last: NHWC, NDHWC, NLC, NWC. Errors:
  /// InvalidArgument for another.
  explicit ImageLayout(const std::string& data_format);

  int channel_dim(int ndim) const { return channels_last ? ndim - 1 : 1; }
  int first_spatial() const { return channels_last ? 1 : 2; }
  int64_t channels(const Dims& dims) const { return dims[channel_dim(dims.ndim())]; }
  Dims spatial(const Dims& dims) const {
    return Dims(std::span(dims.begin() + first_spatial(), static_cast<size_t>(dims.ndim() - 2)));
  }
  Dims dims(int64_t n, int64_t c, std::span<const int64_t> spatial) const;
};

/// A window along one spatial dim.
struct Window {
  int64_t size;
  int64_t stride;
  int64_t dilation;
  int64_t pad_begin;
  int64_t pad_end;

  /// From its first element to behind its last one.
  int64_t reach() const { return dilation * (size - 1) + 1; }
  /// Where it fits into a padded extent. With `ceil` the last one may reach over the end. 0 or less
  /// if it fits nowhere.
  int64_t positions(int64_t extent, bool ceil = false) const;
};
using Windows = InlineVector<Window, 3>;

/// The attributes that say how windows slide, one entry for each spatial dim; paddings may have
/// two, [begin, end], and [0] stands for none at all. "SAME" and "VALID" choose paddings
/// themselves.
struct WindowAttributes {
  const std::vector<int>& strides;
  const std::vector<int>& paddings;
  const std::string& padding_algorithm;
  const std::vector<int>& dilations;
};

/// Windows of `sizes` over the `extents` of an image. Errors: InvalidArgument for lists of other
/// lengths, sizes, strides or dilations below 1, negative paddings, and another algorithm.
Windows make_windows(std::span<const int64_t> extents, std::span<const int64_t> sizes,
                     const WindowAttributes& attributes);

/// The entries of an attribute, whatever its type.
std::vector<int64_t> entries(std::span<const int> values);
inline std::vector<int64_t> entries(const std::vector<int>& values) {
  return entries(std::span<const int>(values));
}
inline std::vector<int64_t> entries(const IntArray& values) {
  return {values.values().begin(), values.values().end()};
}

}  // namespace phi
