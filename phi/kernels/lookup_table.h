// LookupTable: the tensor dim of a table from which ids select rows.
#pragma once

#include <cstdint>

#include "phi/core/box.h"
#include "phi/kernels/index_errors.h"

namespace phi {

/// The indexed tensor dim: its global extent, this rank's range [begin, end), and whether negative
/// ids count from the end.
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
