// Rules of the optimizers' steps.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// All tensors have one shape and lie as param does: the others follow, a partial grad becomes
/// whole. Each output is as its input; the last, of master_param, is absent with it.
SpmdRule SgdInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                      const TensorSpec* master_param);
SpmdRule MomentumInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                           const TensorSpec& velocity, const TensorSpec* master_param);
SpmdRule AdamwInferSpmd(const TensorSpec& param, const TensorSpec& grad, const TensorSpec& moment1,
                        const TensorSpec& moment2, const TensorSpec* master_param);

}  // namespace phi::distributed
