// The columns of an image (im2col): a row for each tap of the window, with an element for each
// position, 0 if the tap is in padding.
//
//   image_to_columns(sliding, image, columns);    // [taps, positions], what a product then takes
//   columns_to_image(sliding, columns, image);    // the other way: sums of the taps of an element
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/kernels/windowed/sliding.h"

namespace phi {

/// The positions [begin, end) along dim `d` for which tap `tap` is inside the image.
struct InsideRange {
  int64_t begin;
  int64_t end;
  InsideRange(const Sliding& sliding, int d, int64_t tap) {
    const int64_t stride = sliding.window[d].stride;
    const int64_t shift = sliding.place(d, 0, tap);  // of position 0
    const auto first_at_least = [&](int64_t place) {
      const int64_t steps = place <= shift ? 0 : (place - shift + stride - 1) / stride;
      return std::min(steps, sliding.positions[d]);
    };
    begin = first_at_least(0);
    end = first_at_least(sliding.image[d]);
  }
};

/// Calls row(columns' offset, positions inside the image, image's offset of the first of these) for
/// each tap and each row of positions, in the order of the columns. The range is empty if the row
/// is in padding.
template <typename Row>
void for_each_tap_row(const Sliding& s, Row row) {
  int64_t column = 0;
  for (int64_t tz = 0; tz < s.window[0].size; ++tz) {
    for (int64_t ty = 0; ty < s.window[1].size; ++ty) {
      for (int64_t tx = 0; tx < s.window[2].size; ++tx) {
        const InsideRange inside(s, 2, tx);
        for (int64_t oz = 0; oz < s.positions[0]; ++oz) {
          const int64_t z = s.place(0, oz, tz);
          for (int64_t oy = 0; oy < s.positions[1]; ++oy, column += s.positions[2]) {
            const int64_t y = s.place(1, oy, ty);
            InsideRange range = inside;
            if (z < 0 || z >= s.image[0] || y < 0 || y >= s.image[1]) range.end = range.begin;
            const int64_t x = s.place(2, range.begin, tx);
            row(column, range, (z * s.image[1] + y) * s.image[2] + x);
          }
        }
      }
    }
  }
}

/// Converts one channel: image [pixels] to columns [taps, positions].
template <typename T>
void image_to_columns(const Sliding& s, const T* image, T* columns) {
  const int64_t width = s.positions[2];
  const int64_t stride = s.window[2].stride;
  for_each_tap_row(s, [&](int64_t column, const InsideRange& range, int64_t from) {
    T* to = columns + column;
    std::fill_n(to, range.begin, T(0));
    if (stride == 1) {
      std::copy_n(image + from, range.end - range.begin, to + range.begin);
    } else {
      for (int64_t i = range.begin; i < range.end; ++i) {
        to[i] = image[from + (i - range.begin) * stride];
      }
    }
    std::fill(to + range.end, to + width, T(0));
  });
}

/// Adds each column element to its image element, the transpose of image_to_columns. C is the type
/// in which sums are kept.
template <typename T, typename C>
void columns_to_image(const Sliding& s, const T* columns, C* image) {
  const int64_t stride = s.window[2].stride;
  for_each_tap_row(s, [&](int64_t column, const InsideRange& range, int64_t to) {
    if (range.begin == range.end) return;
    const T* from = columns + column + range.begin;
    C* target = image + to;
    const int64_t n = range.end - range.begin;
    for (int64_t i = 0; i < n; ++i) target[i * stride] += static_cast<C>(from[i]);
  });
}

}  // namespace phi
