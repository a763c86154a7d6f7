// Sharding rules of optimizer steps.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// All tensors have one shape and follow param's sharding; a partial grad is reduced. Each output
/// is sharded like its input. The last output, of master_param, is absent with it.
SpmdRule SgdInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                      const TensorSpec* master_param);
SpmdRule MomentumInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                           const TensorSpec& velocity, const TensorSpec* master_param);
SpmdRule AdamwInferSpmd(const TensorSpec& param, const TensorSpec& grad, const TensorSpec& moment1,
                        const TensorSpec& moment2, const TensorSpec* master_param);

}  // namespace phi::distributed
