// Rules of ops that join a list of tensors.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// The axis must be whole; mesh dims that the inputs place differently go where least data moves.
SpmdRule ConcatInferSpmd(std::span<const TensorSpec> x, const Scalar& axis);
/// As concat, along a new dim at `axis`.
SpmdRule StackInferSpmd(std::span<const TensorSpec> x, const Scalar& axis);

}  // namespace phi::distributed
