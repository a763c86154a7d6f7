// Rules that fit any op: for ops without a rule of their own.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// Everything whole.
SpmdRule ReplicatedInferSpmd(std::span<const TensorSpec> inputs,
                             std::span<const TensorSpec> outputs);
/// The first dim of all tensors is the batch and may be split, all other dims are whole.
SpmdRule DataParallelInferSpmd(std::span<const TensorSpec> inputs,
                               std::span<const TensorSpec> outputs);

}  // namespace phi::distributed
