// LookupTable: the tensor dim along which ids pick rows of a table.
#pragma once

#include <cstdint>

#include "phi/core/box.h"
#include "phi/kernels/index_errors.h"

namespace phi {

/// The looked-up tensor dim: its global extent, the part of it that is here, and whether ids may
/// count from its end.
struct LookupTable {
  int64_t extent;
  int64_t begin;
  int64_t end;
  bool from_end;
  LookupTable(const ShardBox& box, int axis, FromEnd counted = FromEnd::kNo)
      : extent(box.global[axis]),
        begin(box.box.offset[axis]),
        end(begin + box.box.size[axis]),
        from_end(counted == FromEnd::kYes) {}
  int64_t lowest() const { return from_end ? -extent : 0; }
};

}  // namespace phi
