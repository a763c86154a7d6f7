// The part of a tensor that the calling rank stores, and its position in the whole tensor.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/box.h"

namespace phi {

struct LocalShard {
  const DenseTensor* array = nullptr;  // null: this rank stores nothing; owned by the tensor
  Box box;                             // the array's position in the whole tensor
};

/// Returns all of a plain tensor, or this rank's shard of a distributed one. `array` is null on a
/// rank that is outside the mesh or whose shard is empty.
LocalShard local_shard(const Tensor& x);

}  // namespace phi
