// Sharding rules of losses other than cross entropy.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// Elementwise; pos_weight, if given, broadcasts. If the loss is normalised, the kernel counts over
/// all ranks.
SpmdRule SigmoidCrossEntropyInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                      const TensorSpec* pos_weight);
SpmdRule SigmoidCrossEntropyGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          const TensorSpec* pos_weight, const TensorSpec& out_grad);
/// Elementwise for the reduction "none". Otherwise the output is Partial(sum), because the kernel
/// divides by global counts.
SpmdRule KLDivInferSpmd(const TensorSpec& x, const TensorSpec& label, const std::string& reduction);
SpmdRule KLDivGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                            const TensorSpec& out_grad, const std::string& reduction);
/// The classes, tensor dim 1 of input, must be whole. For the reduction "sum" out and total_weight
/// are Partial(sum). For "mean" they are whole, because the kernel combines both sums before it
/// divides.
SpmdRule NllLossInferSpmd(const TensorSpec& input, const TensorSpec& label,
                          const TensorSpec* weight, const std::string& reduction);
SpmdRule NllLossGradInferSpmd(const TensorSpec& input, const TensorSpec& label,
                              const TensorSpec* weight, const TensorSpec& total_weight,
                              const TensorSpec& out_grad, const std::string& reduction);

}  // namespace phi::distributed
