// Windows that slide over images: the common part of convolution, pooling, unfold and fold. Shared
// by shape functions and kernels.
//
//   const ImageLayout image(data_format);                    // which dims are spatial
//   const SlidingWindows windows = make_windows(image.spatial(x.dims), filter_size, attributes);
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

/// The tensor dims of an image [n, c, spatial...] or [n, spatial..., c].
struct ImageLayout {
  bool channels_last;

  /// Accepts NCHW, NCDHW, NCL and NCW, and with channels last NHWC, NDHWC, NLC and NWC. Errors:
  /// InvalidArgument for another format.
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

  /// The extent from its first to its last element, both included.
  int64_t reach() const { return dilation * (size - 1) + 1; }
  /// The number of positions in a padded extent. With `ceil` the last window may extend past the
  /// end. 0 or less if it fits nowhere.
  int64_t positions(int64_t extent, bool ceil = false) const;
};
using SlidingWindows = InlineVector<Window, 3>;

/// The window attributes, with one entry per spatial dim. paddings may also have two, [begin, end],
/// per dim, or be [0] for none. "SAME" and "VALID" compute paddings and ignore the list.
struct WindowAttributes {
  const std::vector<int>& strides;
  const std::vector<int>& paddings;
  const std::string& padding_algorithm;
  const std::vector<int>& dilations;
};

/// Windows of `sizes` over an image of `extents`. Errors: InvalidArgument for lists of wrong
/// length, sizes, strides or dilations below 1, negative paddings, or another algorithm.
SlidingWindows make_windows(std::span<const int64_t> extents, std::span<const int64_t> sizes,
                            const WindowAttributes& attributes);

/// The entries of an attribute of any type.
std::vector<int64_t> entries(std::span<const int> values);
inline std::vector<int64_t> entries(const std::vector<int>& values) {
  return entries(std::span<const int>(values));
}
inline std::vector<int64_t> entries(const IntArray& values) {
  return {values.values().begin(), values.values().end()};
}

}  // namespace phi
