// Rows of images, as pooling walks over them. The rows of a window are first folded into one row,
// by loops over whole rows of the image. The windows along the last spatial dim of that row are
// folded next. The work grows with the sum of a window's extents instead of their product.
//
//   for_each_output_row(images, [&](const OutputRow& out) {
//     out.for_each_row([&](int64_t i, int64_t) { ... fold row i of all images ... });
//   });
#pragma once

#include <cstdint>

#include "phi/kernels/windowed/pool_images.h"

namespace phi {

/// One row of windows, which differ only in their position along the last spatial dim.
struct OutputRow {
  const PoolImages& images;
  const PoolRange& depth;
  const PoolRange& height;
  int64_t image;  // number of the image
  int64_t row;    // number of the output row

  /// Offset of the row of outputs.
  int64_t output() const { return row * images.output_row_size(); }
  bool is_empty() const { return depth.begin == depth.end || height.begin == height.end; }
  /// Calls f(row number among those of all images, row number in its image) for the rows that the
  /// windows contain.
  template <typename F>
  void for_each_row(F f) const {
    for (int64_t z = depth.begin; z < depth.end; ++z) {
      for (int64_t y = height.begin; y < height.end; ++y) {
        const int64_t row = z * images.extents[1] + y;
        f(image * images.extents[0] * images.extents[1] + row, row);
      }
    }
  }
  /// Returns the number of elements in window `along` of the last dim; with `padded`, including
  /// those in padding.
  int64_t count(const PoolRange& along, bool padded) const {
    if (padded) return depth.padded * height.padded * along.padded;
    return (depth.end - depth.begin) * (height.end - height.begin) * (along.end - along.begin);
  }
};

template <typename F>
void for_each_output_row(const PoolImages& images, F f) {
  if (images.inner == 0) return;  // a shard without channels has no rows
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
