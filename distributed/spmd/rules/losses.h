// Rules of losses beside cross entropy.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// Elements by themselves; pos_weight, if given, broadcasts. Where the loss is normalised the
/// kernel counts over all ranks.
SpmdRule SigmoidCrossEntropyInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                      const TensorSpec* pos_weight);
SpmdRule SigmoidCrossEntropyGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          const TensorSpec* pos_weight, const TensorSpec& out_grad);
/// Elements by themselves for the reduction "none"; else Partial(sum), as the kernel divides by
/// global counts.
SpmdRule KLDivInferSpmd(const TensorSpec& x, const TensorSpec& label, const std::string& reduction);
SpmdRule KLDivGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                            const TensorSpec& out_grad, const std::string& reduction);
/// The classes, tensor dim 1 of input, stay whole. out and total_weight are Partial(sum) for the
/// reduction "sum"; the quotient of a "mean" is made of sums that the kernel combines.
SpmdRule NllLossInferSpmd(const TensorSpec& input, const TensorSpec& label,
                          const TensorSpec* weight, const std::string& reduction);
SpmdRule NllLossGradInferSpmd(const TensorSpec& input, const TensorSpec& label,
                              const TensorSpec* weight, const TensorSpec& total_weight,
                              const TensorSpec& out_grad, const std::string& reduction);

}  // namespace phi::distributed
