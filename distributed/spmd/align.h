// Alignment: one placement for tensors that must lie alike, chosen by the data that moves.
//
// A mesh dim on which the tensors agree stays as it is. One on which they differ goes to the tensor
// dim, not yet split, where least data has to move; dims smaller than the mesh dim are no choice.
// Unlike the factors' first-come policy this moves a mesh dim away from a dim that must be whole,
// instead of giving it up: right for ops on lists of large tensors, as concat.
#pragma once

#include <span>

#include "distributed/spmd/sharding.h"
#include "distributed/spmd/spec.h"

namespace phi::distributed {

/// The placement for all `tensors`, which have the same number of dims and any sizes. Bits of
/// `whole_dims` are tensor dims that must not be split. Mesh dims over which all tensors are
/// partial sums or averages stay partial. Tensors of no elements have no say.
Sharding align(std::span<const TensorSpec> tensors, uint32_t whole_dims);

}  // namespace phi::distributed
