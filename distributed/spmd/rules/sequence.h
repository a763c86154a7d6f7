// Sharding rules of ops on sequences. Samples may be split; steps, classes and hidden units must be
// whole.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

SpmdRule RecurrentLayerInferSpmd(const TensorSpec& gates, const TensorSpec& hidden,
                                 const TensorSpec* cell, const TensorSpec& weight_hh,
                                 const TensorSpec& bias_hh, const TensorSpec* sequence_length);
/// The gradients of the weights are Partial(sum) where samples are split.
SpmdRule RecurrentLayerGradInferSpmd(const TensorSpec& gates, const TensorSpec& hidden,
                                     const TensorSpec* cell, const TensorSpec& weight_hh,
                                     const TensorSpec& bias_hh, const TensorSpec* sequence_length,
                                     const TensorSpec& out, const TensorSpec& reserve,
                                     const TensorSpec& out_grad, const TensorSpec& last_hidden_grad,
                                     const TensorSpec* last_cell_grad);
SpmdRule WarpctcInferSpmd(const TensorSpec& logits, const TensorSpec& label,
                          const TensorSpec* logits_length, const TensorSpec* labels_length);
SpmdRule HSigmoidLossInferSpmd(const TensorSpec& x, const TensorSpec& label, const TensorSpec& w,
                               const TensorSpec* bias, const TensorSpec* path,
                               const TensorSpec* code);
/// The gradients of w and bias are Partial(sum) where samples are split.
SpmdRule HSigmoidLossGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                   const TensorSpec& w, const TensorSpec* bias,
                                   const TensorSpec* path, const TensorSpec* code,
                                   const TensorSpec& pre_out, const TensorSpec& out_grad);

}  // namespace phi::distributed
