// Optimizer steps of the trainer.
//
// learning_rate and grad_scale are float32 or float64 arrays of one element, and `step` is an int64
// array of one element, so that a captured program can change them. Errors: InvalidArgument, which
// names the argument, for others. In all steps g = grad * grad_scale (1 if absent). If grad_scale
// is not finite, nothing changes. optimizer_arrays.h describes dtypes and masters.
#pragma once

#include <cmath>

#include "phi/common/errors.h"
#include "phi/core/device/device_assertion.h"
#include "phi/generated/kernels/optimizer.h"
#include "phi/kernels/functors/optimizer.h"
#include "phi/kernels/templates/optimizer/optimizer_arrays.h"

namespace phi {
namespace {

/// The single element of x.
DeviceScalar number_in(const DenseTensor& x, const char* name, bool fits, const char* wanted) {
  PHI_CHECK(
      x.numel() == 1 && fits,
      errors::InvalidArgument("{} is {}, but it must be one number of {}; create it with full.",
                              name, x.meta().to_string(), wanted));
  return DeviceScalar(x);
}
DeviceScalar real_in(const DenseTensor& x, const char* name) {
  const bool fits = x.dtype() == DataType::FLOAT32 || x.dtype() == DataType::FLOAT64;
  return number_in(x, name, fits, "float32 or float64");
}

/// An optional grad_scale; 1 if it is absent.
struct GradScale {
  DeviceScalar number;
  bool is_given;
  template <typename C>
  PHI_HD C value() const {
    return is_given ? number.as<C>() : C(1);
  }
  template <typename C>
  PHI_HD bool is_finite() const {
    return std::isfinite(value<C>());
  }
};
GradScale scale_in(const DenseTensor* grad_scale, const DenseTensor& otherwise) {
  if (!grad_scale) return {DeviceScalar(otherwise), false};
  return {real_in(*grad_scale, "grad_scale"), true};
}

template <typename C>
struct ScaledSgdMaker {
  using Function = ScaledStep<C, SgdStep<C>>;
  DeviceScalar rate;
  C decay;
  GradScale scale;
  PHI_HD bool is_taken() const { return scale.template is_finite<C>(); }
  PHI_HD Function step() const {
    return {{rate.template as<C>(), decay}, scale.template value<C>()};
  }
};

template <typename C>
struct ScaledMomentumMaker {
  using Function = ScaledStep<C, MomentumStep<C>>;
  DeviceScalar rate;
  C mu;
  C decay;
  bool use_nesterov;
  GradScale scale;
  PHI_HD bool is_taken() const { return scale.template is_finite<C>(); }
  PHI_HD Function step() const {
    return {{rate.template as<C>(), mu, decay, use_nesterov}, scale.template value<C>()};
  }
};

template <typename C>
struct ScaledAdamwMaker {
  using Function = ScaledStep<C, AdamStep<C, false>>;
  C beta1;
  C beta2;
  C epsilon;
  C weight_decay;
  DeviceScalar rate;
  DeviceScalar number;
  GradScale scale;
  PHI_HD bool is_taken() const { return scale.template is_finite<C>(); }
  // Values common to all elements are computed in double: 1 - beta2^step loses digits in float.
  PHI_HD Function step() const {
    const double keep1 = beta1;
    const double keep2 = beta2;
    const auto t = number.as<double>();
    const double lr = rate.template as<C>();
    return {{beta1, static_cast<C>(1 - keep1), beta2, static_cast<C>(1 - keep2),
             static_cast<C>(lr / (1 - std::pow(keep1, t))),
             static_cast<C>(1 / std::sqrt(1 - std::pow(keep2, t))), epsilon,
             static_cast<C>(1 - lr * weight_decay)},
            scale.template value<C>()};
  }
};

struct IsNoStep {
  PHI_HD bool operator()(int64_t step) const { return step < 1; }
};
[[noreturn]] inline void throw_no_step(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "step is {}, but steps count from 1: the bias correction of step 0 "
      "divides by zero.",
      found.value);
}

}  // namespace

/// param -= learning_rate * (g + weight_decay * param): decay is an L2 penalty, which is part of
/// the gradient after grad_scale.
template <typename T, typename Context>
void ScaledSgdKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                     const DenseTensor* master_param, const DenseTensor& learning_rate,
                     const DenseTensor* grad_scale, double weight_decay, DenseTensor* param_out,
                     DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(
      ctx, {param, grad, master_param, param_out, master_param_out}, {},
      ScaledSgdMaker<C>{real_in(learning_rate, "learning_rate"), static_cast<C>(weight_decay),
                        scale_in(grad_scale, learning_rate)});
}

/// A step with momentum; velocity starts at 0:
/// - g += weight_decay * param
/// - velocity = mu * velocity + g
/// - param -= learning_rate * (use_nesterov ? g + mu * velocity : velocity)
template <typename T, typename Context>
void ScaledMomentumKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                          const DenseTensor& velocity, const DenseTensor* master_param,
                          const DenseTensor& learning_rate, const DenseTensor* grad_scale,
                          double mu, bool use_nesterov, double weight_decay, DenseTensor* param_out,
                          DenseTensor* velocity_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out},
               {OptimizerState{velocity, velocity_out}},
               ScaledMomentumMaker<C>{real_in(learning_rate, "learning_rate"), static_cast<C>(mu),
                                      static_cast<C>(weight_decay), use_nesterov,
                                      scale_in(grad_scale, learning_rate)});
}

/// A step of AdamW (Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019). `step` counts
/// from 1:
/// - moment1 = beta1 * moment1 + (1 - beta1) * g
/// - moment2 = beta2 * moment2 + (1 - beta2) * g^2
/// - m = moment1 / (1 - beta1^step), v = moment2 / (1 - beta2^step)
/// - param -= learning_rate * (m / (sqrt(v) + epsilon) + weight_decay * param)
///
/// Errors: InvalidArgument for step < 1.
template <typename T, typename Context>
void ScaledAdamwKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                       const DenseTensor& moment1, const DenseTensor& moment2,
                       const DenseTensor* master_param, const DenseTensor& learning_rate,
                       const DenseTensor& step, const DenseTensor* grad_scale, double beta1,
                       double beta2, double epsilon, double weight_decay, DenseTensor* param_out,
                       DenseTensor* moment1_out, DenseTensor* moment2_out,
                       DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const DeviceScalar number = number_in(step, "step", step.dtype() == DataType::INT64, "int64");
  check_elements<int64_t>(ctx, step, IsNoStep(), {.raise = throw_no_step});
  take_step<T>(
      ctx, {param, grad, master_param, param_out, master_param_out},
      {OptimizerState{moment1, moment1_out}, OptimizerState{moment2, moment2_out}},
      ScaledAdamwMaker<C>{static_cast<C>(beta1), static_cast<C>(beta2), static_cast<C>(epsilon),
                          static_cast<C>(weight_decay), real_in(learning_rate, "learning_rate"),
                          number, scale_in(grad_scale, learning_rate)});
}

PHI_REGISTER_KERNEL(scaled_sgd, PHI_DEVICE, ScaledSgdKernel, Floats);
PHI_REGISTER_KERNEL(scaled_momentum, PHI_DEVICE, ScaledMomentumKernel, Floats);
PHI_REGISTER_KERNEL(scaled_adamw, PHI_DEVICE, ScaledAdamwKernel, Floats);

}  // namespace phi
