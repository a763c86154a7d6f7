// PoolImages: images of a pooling call and the elements of each window.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/infermeta/pool.h"

namespace phi {

/// `outer` images of three spatial dims; with fewer, the first ones have size 1. Each is one
/// channel, or has `inner` channels as its last dim.
struct PoolImages {
  int64_t outer;
  int64_t inner;
  std::array<int64_t, 3> extents = {1, 1, 1};
  std::array<PoolRanges, 3> ranges = {PoolRanges{{0, 1, 1}}, PoolRanges{{0, 1, 1}},
                                      PoolRanges{{0, 1, 1}}};

  PoolImages(const Dims& x, const ImageLayout& layout, const std::vector<PoolRanges>& windows)
      : outer(layout.channels_last ? x[0] : x[0] * x[1]),
        inner(layout.channels_last ? layout.channels(x) : 1) {
    const Dims spatial = layout.spatial(x);
    const size_t first = 3 - windows.size();
    for (size_t d = 0; d < windows.size(); ++d) {
      extents[first + d] = spatial[static_cast<int>(d)];
      ranges[first + d] = windows[d];
    }
  }

  int64_t row_size() const { return extents[2] * inner; }
  int64_t image_size() const { return extents[0] * extents[1] * row_size(); }
  int64_t windows(int d) const { return static_cast<int64_t>(ranges[d].size()); }
  int64_t output_row_size() const { return windows(2) * inner; }
};

inline PoolImages pool_images(const DenseTensor& x, const std::string& data_format,
                              const PoolAttributes& attributes) {
  const ImageLayout layout(data_format);
  const Dims extents = layout.spatial(x.dims());
  return {x.dims(), layout, pool_ranges(std::span(extents.begin(), extents.end()), attributes)};
}

}  // namespace phi
