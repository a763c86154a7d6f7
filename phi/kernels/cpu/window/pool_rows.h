// Images as pooling walks through them. A window's rows are folded into one row first,
// which is a loop over whole rows of the image, and then that row's windows along the last spatial
// dim are folded: work that grows with the sum of a window's extents, not with their product.
//
//   for_each_output_row(images, [&](const OutputRow& out) {
//     out.for_each_row([&](int64_t i, int64_t) { ... fold row i of all images ... });
//   });
#pragma once

#include <cstdint>

#include "phi/kernels/window/pool_images.h"

namespace phi {

/// One row of windows: those that differ along the last spatial dim alone.
struct OutputRow {
  const PoolImages& images;
  const PoolRange& depth;
  const PoolRange& height;
  int64_t image;  // its number
  int64_t row;    // number of the row of outputs

  /// Offset of the row of outputs.
  int64_t output() const { return row * images.output_row_size(); }
  bool is_empty() const { return depth.begin == depth.end || height.begin == height.end; }
  /// Calls f(number of a row among those of all images, among those of its own) for the rows that
  /// the windows take.
  template <typename F>
  void for_each_row(F f) const {
    for (int64_t z = depth.begin; z < depth.end; ++z) {
      for (int64_t y = height.begin; y < height.end; ++y) {
        const int64_t row = z * images.extents[1] + y;
        f(image * images.extents[0] * images.extents[1] + row, row);
      }
    }
  }
  /// Elements of window `along` of the last dim, or with `padded` those in padding too.
  int64_t count(const PoolRange& along, bool padded) const {
    if (padded) return depth.padded * height.padded * along.padded;
    return (depth.end - depth.begin) * (height.end - height.begin) * (along.end - along.begin);
  }
};

template <typename F>
void for_each_output_row(const PoolImages& images, F f) {
  if (images.inner == 0) return;  // a part without channels has no rows
  int64_t row = 0;
  for (int64_t o = 0; o < images.outer; ++o) {
    for (const PoolRange& depth : images.ranges[0]) {
      for (const PoolRange& height : images.ranges[1]) {
        f(OutputRow{images, depth, height, o, row++});
      }
    }
  }
}

}  // namespace phi
