// Sharding rules of concat and stack.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// The axis must be whole. Mesh dims on which the inputs differ are placed where the least data
/// moves (align.h).
SpmdRule ConcatInferSpmd(std::span<const TensorSpec> x, const Scalar& axis);
/// The same as concat, along a new dim at `axis`.
SpmdRule StackInferSpmd(std::span<const TensorSpec> x, const Scalar& axis);

}  // namespace phi::distributed
