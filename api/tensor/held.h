// What of a tensor the calling rank holds.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/box.h"

namespace phi {

struct Held {
  const DenseTensor* array = nullptr;  // null: nothing; lives as long as the tensor
  Box box;                             // of the whole tensor
};

/// Of a plain tensor all of it; of a distributed one this rank's shard, nothing on a rank that is
/// not in its mesh or whose shard is empty.
Held held_here(const Tensor& x);

}  // namespace phi
