// Iterates over a box in chunks of limited size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/core/box.h"

namespace phi {

/// Splits `box` into boxes of at most `limit` elements (limit >= 1) and calls f for each. In the
/// row-major array of `box` each of them is contiguous, and they follow one another in order.
template <typename F>
void for_each_chunk(const Box& box, int64_t limit, const F& f) {
  if (box.empty()) return;
  if (box.numel() <= limit) return f(box);
  int d = 0;
  while (box.size[d] == 1) ++d;
  const int64_t rows = std::max<int64_t>(1, limit / box.size.numel(d + 1, box.ndim()));
  for (int64_t begin = 0; begin < box.size[d]; begin += rows) {
    Box chunk = box;
    chunk.offset[d] += begin;
    chunk.size[d] = std::min(rows, box.size[d] - begin);
    for_each_chunk(chunk, limit, f);
  }
}

}  // namespace phi
