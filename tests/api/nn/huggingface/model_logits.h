// What a model of this config with these weights makes of ids, in float32.
#pragma once

#include "api/nn/models/config.h"
#include "api/tensor/tensor.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn {

/// ids i64[B,S]; weights are under our names. Gives f32[B,S,vocab].
Tensor model_logits(const models::ModelConfig& config,
                    const distributed::checkpoint::Checkpoint& weights, const Tensor& ids);

}  // namespace phi::nn
