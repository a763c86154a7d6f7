// LookupTable: the tensor dim along which ids pick rows of a table.
#pragma once

#include <cstdint>

#include "phi/core/box.h"

namespace phi {

/// The looked-up tensor dim: its global extent, and the part of it that is here.
struct LookupTable {
  int64_t extent;
  int64_t begin;
  int64_t end;
  LookupTable(const ShardBox& box, int axis)
      : extent(box.global[axis]), begin(box.box.offset[axis]), end(begin + box.box.size[axis]) {}
};

}  // namespace phi
