// An input of a call under test, placed so that no part of a partial sum is the value.
#pragma once

#include <cstdint>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/placement/placement.h"

namespace phi::testing {

/// shard_tensor(x, mesh, placements), but the parts of partial sums are drawn by `seed`: each is
/// about as large as the value, and no two elements are taken apart alike. The parts of an element
/// add up to it without rounding, in any floating dtype.
/// Ranks    Every rank calls it, without communication.
Tensor place_input(const Tensor& x, const distributed::ProcessMesh& mesh,
                   std::span<const distributed::Placement> placements, uint32_t seed);

}  // namespace phi::testing
