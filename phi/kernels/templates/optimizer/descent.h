// Optimizer steps along the gradient: SGD, momentum and averaged gradients. optimizer_arrays.h
// describes dtypes and masters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/generated/kernels/updates.h"
#include "phi/kernels/functors/optimizer.h"
#include "phi/kernels/templates/optimizer/optimizer_arrays.h"

namespace phi {
namespace {

/// The attributes of a momentum step.
struct MomentumSettings {
  float mu;
  bool use_nesterov;
  float decay;
  float rescale_grad;
};

template <typename C>
struct MomentumMaker {
  using Function = ScaledStep<C, MomentumStep<C>>;
  DeviceScalar rate;
  MomentumSettings set;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const {
    return {{rate.template as<C>(), static_cast<C>(set.mu), static_cast<C>(set.decay),
             set.use_nesterov},
            static_cast<C>(set.rescale_grad)};
  }
};

template <typename C>
struct SgdMaker {
  using Function = SgdStep<C>;
  DeviceScalar rate;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const { return {rate.template as<C>(), C(0)}; }
};

template <typename C>
struct AsgdMaker {
  using Function = AsgdStep<C>;
  DeviceScalar rate;
  DeviceScalar gradients;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const { return {rate.template as<C>() / gradients.template as<C>()}; }
};

template <typename C>
struct RpropMaker {
  using Function = RpropStep<C>;
  DeviceScalar least, most;
  DeviceScalar shrink, grow;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const {
    return {least.template as<C>(), most.template as<C>(), shrink.template as<C>(),
            grow.template as<C>()};
  }
};

template <typename T, typename Context>
void momentum_step(const Context& ctx, const TrainedParam& x, const OptimizerState& velocity,
                   const DenseTensor& learning_rate, const MomentumSettings& set) {
  take_step<T>(ctx, x, {velocity}, MomentumMaker<compute_t<T>>{DeviceScalar(learning_rate), set});
}

float decay_of(const std::string& method, float coefficient) {
  return method == "l2_decay" ? coefficient : 0.0f;
}

}  // namespace

/// param -= learning_rate * grad.
template <typename T, typename Context>
void SgdKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& learning_rate,
               const DenseTensor& grad, const DenseTensor* master_param, DenseTensor* param_out,
               DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out}, {},
               SgdMaker<C>{DeviceScalar(learning_rate)});
}

/// A step with momentum:
/// - g = rescale_grad * grad, plus regularization_coeff * param with the method l2_decay
/// - velocity = mu * velocity + g
/// - param -= learning_rate * (use_nesterov ? g + mu * velocity : velocity)
template <typename T, typename Context>
void MomentumKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                    const DenseTensor& velocity, const DenseTensor& learning_rate,
                    const DenseTensor* master_param, float mu, bool use_nesterov,
                    const std::string& regularization_method, float regularization_coeff,
                    float rescale_grad, DenseTensor* param_out, DenseTensor* velocity_out,
                    DenseTensor* master_param_out) {
  momentum_step<T>(
      ctx, {param, grad, master_param, param_out, master_param_out}, {velocity, velocity_out},
      learning_rate,
      {mu, use_nesterov, decay_of(regularization_method, regularization_coeff), rescale_grad});
}

/// The same for each param of a list. learning_rate may have one number for all.
template <typename T, typename Context>
void MergedMomentumKernel(const Context& ctx, std::span<const DenseTensor* const> param,
                          std::span<const DenseTensor* const> grad,
                          std::span<const DenseTensor* const> velocity,
                          std::span<const DenseTensor* const> learning_rate,
                          std::span<const DenseTensor* const> master_param, float mu,
                          bool use_nesterov, const std::vector<std::string>& regularization_method,
                          const std::vector<float>& regularization_coeff, float rescale_grad,
                          std::span<DenseTensor* const> param_out,
                          std::span<DenseTensor* const> velocity_out,
                          std::span<DenseTensor* const> master_param_out) {
  for (size_t i = 0; i < param.size(); ++i) {
    const bool has_master = !master_param.empty();
    const TrainedParam x{*param[i], *grad[i], has_master ? master_param[i] : nullptr, param_out[i],
                         has_master ? master_param_out[i] : nullptr};
    const float decay = regularization_method.empty()
                            ? 0.0f
                            : decay_of(regularization_method[i], regularization_coeff[i]);
    momentum_step<T>(ctx, x, {*velocity[i], velocity_out[i]},
                     *learning_rate[learning_rate.size() == 1 ? 0 : i],
                     {mu, use_nesterov, decay, rescale_grad});
  }
}

/// d is the sum of the last n gradients, and y is the oldest of them: d = d - y + grad, y = grad,
/// param -= learning_rate / n * d.
template <typename T, typename Context>
void AsgdKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                const DenseTensor& learning_rate, const DenseTensor& d, const DenseTensor& y,
                const DenseTensor& n, const DenseTensor* master_param, DenseTensor* param_out,
                DenseTensor* d_out, DenseTensor* y_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out},
               {OptimizerState{d, d_out}, OptimizerState{y, y_out}},
               AsgdMaker<C>{DeviceScalar(learning_rate), DeviceScalar(n)});
}

/// Each element has its own step size, in learning_rate, limited to the two numbers of
/// learning_rate_range. It grows by etas[1] if the gradient keeps its sign. If the sign changes, it
/// shrinks by etas[0], and the element is not updated in this step.
template <typename T, typename Context>
void RpropKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& prev, const DenseTensor& learning_rate,
                 const DenseTensor* master_param, const DenseTensor& learning_rate_range,
                 const DenseTensor& etas, DenseTensor* param_out, DenseTensor* prev_out,
                 DenseTensor* learning_rate_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(
      ctx, {param, grad, master_param, param_out, master_param_out},
      {OptimizerState{prev, prev_out}, OptimizerState{learning_rate, learning_rate_out}},
      RpropMaker<C>{DeviceScalar(learning_rate_range, 0), DeviceScalar(learning_rate_range, 1),
                    DeviceScalar(etas, 0), DeviceScalar(etas, 1)});
}

PHI_REGISTER_KERNEL(sgd, PHI_DEVICE, SgdKernel, Floats);
PHI_REGISTER_KERNEL(momentum, PHI_DEVICE, MomentumKernel, Floats);
PHI_REGISTER_KERNEL(merged_momentum, PHI_DEVICE, MergedMomentumKernel, Floats);
PHI_REGISTER_KERNEL(asgd, PHI_DEVICE, AsgdKernel, Floats);
PHI_REGISTER_KERNEL(rprop, PHI_DEVICE, RpropKernel, Floats);

}  // namespace phi
