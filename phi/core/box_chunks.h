// Going through a box in parts of a limited size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/core/box.h"

namespace phi {

/// Calls f for boxes of at most `limit` elements that make up `box`, in row-major order: each of
/// them is one piece of the box's row-major array, right behind the one before.
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
