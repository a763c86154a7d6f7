// Alignment: one sharding for a list of tensors that must be placed alike, with the least data
// moved.
//
// A mesh dim on which the tensors agree stays as it is. A mesh dim on which they differ shards the
// tensor dim for which the least data has to move. Candidates are tensor dims that are not split
// yet and not smaller than the mesh dim. Unlike the first-come policy of Factors, this moves a mesh
// dim away from a tensor dim that must be whole, instead of giving it up. It suits ops on lists of
// large tensors, such as concat.
#pragma once

#include <span>

#include "distributed/spmd/sharding.h"
#include "distributed/spmd/spec.h"

namespace phi::distributed {

/// Returns the sharding for all `tensors`, which have the same number of dims and any sizes. Bit d
/// of `whole_dims` is set if tensor dim d must not be split. Mesh dims over which all tensors are
/// partial sums or averages stay partial. Tensors without elements are ignored.
Sharding align(std::span<const TensorSpec> tensors, uint32_t whole_dims);

}  // namespace phi::distributed
