// Sharding rules of reshape and flatten: dims that merge and split.
#pragma once

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// `shape` is the op's attribute: one -1 is inferred, and 0 copies the dim of x at that position.
SpmdRule ReshapeInferSpmd(const TensorSpec& x, const IntArray& shape);
/// Merges dims start_axis to stop_axis, both included.
SpmdRule FlattenInferSpmd(const TensorSpec& x, int start_axis, int stop_axis);

}  // namespace phi::distributed
