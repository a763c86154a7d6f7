// Sliding: the windows over one image for loops. There are always three spatial dims; with fewer,
// the first ones have size 1.
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/host_device.h"
#include "phi/infermeta/windowed.h"

namespace phi {

struct Sliding {
  std::array<int64_t, 3> image = {1, 1, 1};
  std::array<int64_t, 3> positions = {1, 1, 1};
  std::array<Window, 3> window = {Window{1, 1, 1, 0, 0}, Window{1, 1, 1, 0, 0},
                                  Window{1, 1, 1, 0, 0}};

  /// `image_dims` and `position_dims` have one dim per window.
  Sliding(const Dims& image_dims, const Dims& position_dims, const SlidingWindows& windows) {
    const auto first = 3 - windows.size();
    for (size_t d = 0; d < windows.size(); ++d) {
      image[first + d] = image_dims[static_cast<int>(d)];
      positions[first + d] = position_dims[static_cast<int>(d)];
      window[first + d] = windows[d];
    }
  }

  PHI_HD int64_t pixels() const { return image[0] * image[1] * image[2]; }
  PHI_HD int64_t num_positions() const { return positions[0] * positions[1] * positions[2]; }
  PHI_HD int64_t taps() const { return window[0].size * window[1].size * window[2].size; }
  /// Whether the columns (im2col) are the image itself.
  bool is_pointwise() const {
    for (const Window& w : window) {
      if (w.size != 1 || w.stride != 1 || w.pad_begin != 0) return false;
    }
    return image == positions;
  }
  /// The index in the image of tap `tap` of position `at` along dim `d`; outside of the image in
  /// padding.
  PHI_HD int64_t place(int d, int64_t at, int64_t tap) const {
    return at * window[d].stride - window[d].pad_begin + tap * window[d].dilation;
  }
};

}  // namespace phi
