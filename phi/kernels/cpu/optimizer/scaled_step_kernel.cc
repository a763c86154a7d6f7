// Steps of the trainer's optimizers on the CPU.
//
// learning_rate and grad_scale are float32 arrays of one element, `step` is an int64 one, so that a
// captured program can be given others. Errors: InvalidArgument naming one that is not.
// All: g = grad * grad_scale, 1 if that is absent; where it is not finite all stays as it is.
// Masters and dtypes: step_loop.h.
#include <cmath>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/optimizer.h"
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/functors/optimizer.h"

namespace phi {
namespace {

/// The only element.
template <typename T>
T number_in(const DenseTensor& x, const char* name) {
  PHI_CHECK(x.numel() == 1 && x.dtype() == dtype_of<T>(),
            errors::InvalidArgument("{} is {}, but it must be one number of {}; make it with full.",
                                    name, x.meta().to_string(), name_of(dtype_of<T>())));
  return *x.data<T>();
}

float scale_in(const DenseTensor* grad_scale) {
  return grad_scale ? number_in<float>(*grad_scale, "grad_scale") : 1.0f;
}

}  // namespace

/// g += weight_decay * param (an L2 penalty: decay goes through the gradient, after grad_scale),
/// param -= learning_rate * g.
template <typename T, typename Context>
void ScaledSgdKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                     const DenseTensor* master_param, const DenseTensor& learning_rate,
                     const DenseTensor* grad_scale, float weight_decay, DenseTensor* param_out,
                     DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C rate = number_in<float>(learning_rate, "learning_rate");
  const C decay = weight_decay;
  const C scale = scale_in(grad_scale);
  if (!std::isfinite(scale)) {
    keep(param, param_out);
    if (master_param) keep(*master_param, master_param_out);
    return;
  }
  using Step = ScaledStep<C, SgdStep<C>>;
  take_step<T>({param, grad, master_param, param_out, master_param_out}, {},
               Step{{rate, decay}, scale});
}

/// g += weight_decay * param, velocity = mu * velocity + g, and then
/// param -= learning_rate * (use_nesterov ? g + mu * velocity : velocity).
/// The first step takes velocity 0.
template <typename T, typename Context>
void ScaledMomentumKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                          const DenseTensor& velocity, const DenseTensor* master_param,
                          const DenseTensor& learning_rate, const DenseTensor* grad_scale, float mu,
                          bool use_nesterov, float weight_decay, DenseTensor* param_out,
                          DenseTensor* velocity_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C rate = number_in<float>(learning_rate, "learning_rate");
  const C kept = mu;
  const C decay = weight_decay;
  const C scale = scale_in(grad_scale);
  if (!std::isfinite(scale)) {
    keep(param, param_out);
    keep(velocity, velocity_out);
    if (master_param) keep(*master_param, master_param_out);
    return;
  }
  using Step = ScaledStep<C, MomentumStep<C>>;
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{velocity, velocity_out}}, Step{{rate, kept, decay, use_nesterov}, scale});
}

/// moment1 = beta1 * moment1 + (1 - beta1) * g, moment2 = beta2 * moment2 + (1 - beta2) * g^2,
/// param -= learning_rate * (m / (sqrt(v) + epsilon) + weight_decay * param) with
/// m = moment1 / (1 - beta1^step), v = moment2 / (1 - beta2^step); `step` counts from 1.
/// Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019.
/// Errors: InvalidArgument for step < 1.
template <typename T, typename Context>
void ScaledAdamwKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                       const DenseTensor& moment1, const DenseTensor& moment2,
                       const DenseTensor* master_param, const DenseTensor& learning_rate,
                       const DenseTensor& step, const DenseTensor* grad_scale, float beta1,
                       float beta2, float epsilon, float weight_decay, DenseTensor* param_out,
                       DenseTensor* moment1_out, DenseTensor* moment2_out,
                       DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const auto number = number_in<int64_t>(step, "step");
  PHI_CHECK(number >= 1, errors::InvalidArgument("step is {}, but steps count from 1: the bias "
                                                 "correction of step 0 divides by zero.",
                                                 number));
  const C scale = scale_in(grad_scale);
  if (!std::isfinite(scale)) {
    keep(param, param_out);
    keep(moment1, moment1_out);
    keep(moment2, moment2_out);
    if (master_param) keep(*master_param, master_param_out);
    return;
  }
  // What holds for all elements is worked out in double: 1 - beta2^step loses digits in float.
  const double b1 = beta1;
  const double b2 = beta2;
  const auto t = static_cast<double>(number);
  const auto lr = number_in<float>(learning_rate, "learning_rate");
  const C keep1 = static_cast<C>(b1);
  const C take1 = static_cast<C>(1 - b1);
  const C keep2 = static_cast<C>(b2);
  const C take2 = static_cast<C>(1 - b2);
  const C rate = static_cast<C>(lr / (1 - std::pow(b1, t)));
  const C root_factor = static_cast<C>(1 / std::sqrt(1 - std::pow(b2, t)));
  const C shrink = static_cast<C>(1 - static_cast<double>(lr) * weight_decay);
  const C small = epsilon;
  using Step = ScaledStep<C, AdamStep<C, false>>;
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{moment1, moment1_out}, State{moment2, moment2_out}},
               Step{{keep1, take1, keep2, take2, rate, root_factor, small, shrink}, scale});
}

PHI_REGISTER_KERNEL(scaled_sgd, CPU, ScaledSgdKernel, Floats);
PHI_REGISTER_KERNEL(scaled_momentum, CPU, ScaledMomentumKernel, Floats);
PHI_REGISTER_KERNEL(scaled_adamw, CPU, ScaledAdamwKernel, Floats);

}  // namespace phi
