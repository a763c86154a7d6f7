// Steps of the optimizers, each one pass over param, grad and states.
//
// learning_rate and grad_scale are float32 arrays of one element, `step` is an int64 one, so that a
// captured program can be given others. Errors: InvalidArgument naming one that is not.
// All: g = grad * grad_scale, 1 if that is absent; where it is not finite all stays as it is. With
// master_param, a float32 copy of a 16-bit param, the step is taken on the master and rounded into
// param. Otherwise a 16-bit param is widened, updated and rounded. States are float32 for 16-bit
// params, else param's dtype; grad may be float32 beside any param. An output may be its input's
// buffer, as it is when called as an op, or another one. T is param's dtype: float, double,
// bfloat16, float16.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// g += weight_decay * param (an L2 penalty: decay goes through the gradient, after grad_scale),
/// param -= learning_rate * g.
template <typename T>
void SgdKernel(const CpuContext& ctx, const DenseTensor& param, const DenseTensor& grad,
               const DenseTensor* master_param, const DenseTensor& learning_rate,
               const DenseTensor* grad_scale, float weight_decay, DenseTensor* param_out,
               DenseTensor* master_param_out);

/// g += weight_decay * param, velocity = mu * velocity + g, and then
/// param -= learning_rate * (use_nesterov ? g + mu * velocity : velocity).
/// The first step takes velocity 0. Sutskever, Martens, Dahl, Hinton, 2013; the learning rate
/// stands outside of the velocity, so that a change of it acts at once.
template <typename T>
void MomentumKernel(const CpuContext& ctx, const DenseTensor& param, const DenseTensor& grad,
                    const DenseTensor& velocity, const DenseTensor* master_param,
                    const DenseTensor& learning_rate, const DenseTensor* grad_scale, float mu,
                    bool use_nesterov, float weight_decay, DenseTensor* param_out,
                    DenseTensor* velocity_out, DenseTensor* master_param_out);

/// moment1 = beta1 * moment1 + (1 - beta1) * g, moment2 = beta2 * moment2 + (1 - beta2) * g^2,
/// param -= learning_rate * (m / (sqrt(v) + epsilon) + weight_decay * param) with
/// m = moment1 / (1 - beta1^step), v = moment2 / (1 - beta2^step); `step` counts from 1.
/// Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019.
/// Errors: InvalidArgument for step < 1.
template <typename T>
void AdamwKernel(const CpuContext& ctx, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& moment1, const DenseTensor& moment2,
                 const DenseTensor* master_param, const DenseTensor& learning_rate,
                 const DenseTensor& step, const DenseTensor* grad_scale, float beta1, float beta2,
                 float epsilon, float weight_decay, DenseTensor* param_out,
                 DenseTensor* moment1_out, DenseTensor* moment2_out, DenseTensor* master_param_out);

}  // namespace phi
