// Assigns the writes of a save: each distinct shard of each tensor to one of the ranks that hold
// it.
//
// Pure and the same on every rank. To balance the load, pieces are assigned from the largest down,
// each to the holder with the fewest bytes so far (Graham's LPT rule).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/meta.h"

namespace phi::distributed::checkpoint {

struct TensorLayout {
  TensorMeta meta;
  const TensorDistAttr* attr;  // without partial placements
};

struct PlannedPiece {
  size_t tensor = 0;  // position in the list of layouts
  Box box;
  int64_t writer = 0;  // rank
};

/// Returns the pieces, ordered by tensor, then by the offsets of their boxes. Empty shards are
/// omitted; a tensor without elements is one piece. All ranks of the meshes are below `world_size`.
std::vector<PlannedPiece> plan_save(std::span<const TensorLayout> tensors, int64_t world_size);

}  // namespace phi::distributed::checkpoint
