// Places an input of a call under test, with partial sums none of whose parts is the value.
#pragma once

#include <cstdint>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/placement/placement.h"

namespace phi::testing {

/// shard_tensor(x, mesh, placements) with random parts of partial sums, drawn with `seed`. Each
/// part is about as large as the value, and no two elements are split alike. The parts of an
/// element add up to it without rounding, in any floating dtype.
///
/// Ranks    Every rank calls it. No communication.
Tensor place_input(const Tensor& x, const distributed::ProcessMesh& mesh,
                   std::span<const distributed::Placement> placements, uint32_t seed);

}  // namespace phi::testing
