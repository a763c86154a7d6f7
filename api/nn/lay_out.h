// Bringing a tensor where it belongs, however it comes.
#pragma once

#include "api/tensor/tensor.h"
#include "distributed/placement/dist_attr.h"

namespace phi::nn {

/// `x`, plain, deferred or distributed (also elsewhere), as `attr` says; x itself where it lies so
/// already, or where nothing is said (null). Ranks and errors: as shard_tensor and reshard.
Tensor laid_out(const Tensor& x, const distributed::TensorDistAttr* attr);

}  // namespace phi::nn
