// Sharding rules of Paddle's fused optimizer steps and of loss scaling.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

// As in optimizer.h, all tensors follow param's sharding. Scalars are whole, and so are the outputs
// computed from them.

SpmdRule DecayedAdagradInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                                 const TensorSpec& moment);
SpmdRule FtrlInferSpmd(const TensorSpec& param, const TensorSpec& squared_accumulator,
                       const TensorSpec& linear_accumulator, const TensorSpec& grad);
/// Outputs: param_out, moment_out, mean_square_out, mean_grad_out, master_param_outs.
SpmdRule RmspropInferSpmd(const TensorSpec& param, const TensorSpec& mean_square,
                          const TensorSpec& grad, const TensorSpec& moment,
                          const TensorSpec* mean_grad, const TensorSpec* master_param);
/// Outputs: param_out, moment1_out, moment2_out, moment2_max_out, beta1_pow_out, beta2_pow_out,
/// master_param_out.
SpmdRule AdamInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                       const TensorSpec& learning_rate, const TensorSpec& moment1,
                       const TensorSpec& moment2, const TensorSpec* moment2_max,
                       const TensorSpec& beta1_pow, const TensorSpec& beta2_pow,
                       const TensorSpec* master_param);
/// The same without moment2_max. The kernel combines norms over all mesh dims.
SpmdRule LambInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                       const TensorSpec& learning_rate, const TensorSpec& moment1,
                       const TensorSpec& moment2, const TensorSpec& beta1_pow,
                       const TensorSpec& beta2_pow, const TensorSpec* master_param);
/// Three updated scalars are placed between param and the moments, in inputs and outputs.
SpmdRule NadamInferSpmd(const TensorSpec& param, const TensorSpec& grad, const TensorSpec& number1,
                        const TensorSpec& number2, const TensorSpec& number3,
                        const TensorSpec& moment1, const TensorSpec& moment2,
                        const TensorSpec* master_param);
SpmdRule AverageAccumulatesInferSpmd(const TensorSpec& param, const TensorSpec& in_sum_1,
                                     const TensorSpec& in_sum_2, const TensorSpec& in_sum_3,
                                     const TensorSpec& in_num_accumulates,
                                     const TensorSpec& in_old_num_accumulates,
                                     const TensorSpec& in_num_updates);

// Lists: element i of each list follows element i of param. An absent optional list is empty.

SpmdRule MergedMomentumInferSpmd(std::span<const TensorSpec> param,
                                 std::span<const TensorSpec> grad,
                                 std::span<const TensorSpec> velocity,
                                 std::span<const TensorSpec> learning_rate,
                                 std::span<const TensorSpec> master_param);
SpmdRule MergedAdamInferSpmd(std::span<const TensorSpec> param, std::span<const TensorSpec> grad,
                             std::span<const TensorSpec> learning_rate,
                             std::span<const TensorSpec> moment1,
                             std::span<const TensorSpec> moment2,
                             std::span<const TensorSpec> moment2_max,
                             std::span<const TensorSpec> beta1_pow,
                             std::span<const TensorSpec> beta2_pow,
                             std::span<const TensorSpec> master_param);
SpmdRule FusedAdamInferSpmd(std::span<const TensorSpec> params, std::span<const TensorSpec> grads,
                            const TensorSpec& learning_rate, std::span<const TensorSpec> moments1,
                            std::span<const TensorSpec> moments2,
                            std::span<const TensorSpec> moments2_max,
                            std::span<const TensorSpec> beta1_pows,
                            std::span<const TensorSpec> beta2_pows,
                            std::span<const TensorSpec> master_params);
/// The tensors of x keep their sharding. The kernel combines its findings over all their mesh dims.
SpmdRule CheckFiniteAndUnscaleInferSpmd(std::span<const TensorSpec> x, const TensorSpec& scale);
SpmdRule UpdateLossScalingInferSpmd(std::span<const TensorSpec> x, const TensorSpec& found_infinite,
                                    const TensorSpec& prev_loss_scaling,
                                    const TensorSpec& in_good_steps,
                                    const TensorSpec& in_bad_steps);
/// The kernel combines counts and extremes over all mesh dims: both outputs are whole.
SpmdRule CheckNumericsInferSpmd(const TensorSpec& tensor);

}  // namespace phi::distributed
