// Brings a tensor, plain, deferred or distributed, into given placements.
#pragma once

#include "api/tensor/tensor.h"
#include "distributed/placement/dist_attr.h"

namespace phi::nn {

/// `x`, plain, deferred or distributed on any mesh, in the placements `attr`; x itself if it has
/// them already or `attr` is null. Ranks and errors: as shard_tensor and reshard.
Tensor apply_placements(const Tensor& x, const distributed::TensorDistAttr* attr);

}  // namespace phi::nn
