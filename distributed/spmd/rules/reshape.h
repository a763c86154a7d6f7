// Rule of reshape: dims that merge and split.
#pragma once

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// `shape` as in the op: one -1 is worked out, 0 copies the dim of x at its place.
SpmdRule ReshapeInferSpmd(const TensorSpec& x, const IntArray& shape);
/// Dims start_axis to stop_axis, both included, become one.
SpmdRule FlattenInferSpmd(const TensorSpec& x, int start_axis, int stop_axis);

}  // namespace phi::distributed
