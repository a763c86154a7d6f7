// Optimizer steps with an adaptive step size. functors/optimizer.h has the formulas;
// optimizer_arrays.h describes dtypes and masters.
#pragma once

#include <cmath>

#include "phi/generated/kernels/updates.h"
#include "phi/kernels/functors/optimizer.h"
#include "phi/kernels/templates/optimizer/optimizer_arrays.h"

namespace phi {
namespace {

/// Makes a step whose learning rate is an array element.
template <typename C, typename StepOf>
struct RatedMaker {
  using Function = StepOf;
  Function made;  // without its rate
  DeviceScalar rate;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const {
    Function result = made;
    result.rate = rate.template as<C>();
    return result;
  }
};

template <typename C>
struct AdamaxMaker {
  using Function = AdamaxStep<C>;
  Function made;  // without its rate
  DeviceScalar rate;
  DeviceScalar power;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const {
    Function result = made;
    result.rate = rate.template as<C>() / (C(1) - power.template as<C>());
    return result;
  }
};

/// The scalars of a NAdam step. mu of step t is beta1 * (1 - 0.96^(t * decay) / 2).
template <typename C>
struct NadamNumbers {
  C beta1, beta2, decay;
  DeviceScalar decay_power;  // 0.96^t of the previous step, like the next two
  DeviceScalar power2;
  DeviceScalar product;

  PHI_HD C base() const { return static_cast<C>(0.96); }
  PHI_HD C next_decay_power() const { return decay_power.template as<C>() * base(); }
  PHI_HD C next_power2() const { return power2.template as<C>() * beta2; }
  PHI_HD C mu() const { return beta1 * (C(1) - C(0.5) * std::pow(next_decay_power(), decay)); }
  PHI_HD C next_mu() const {
    return beta1 * (C(1) - C(0.5) * std::pow(next_decay_power(), decay) * std::pow(base(), decay));
  }
  PHI_HD C next_product() const { return product.template as<C>() * mu(); }
};

template <typename C>
struct NadamMaker {
  using Function = NadamStep<C>;
  NadamNumbers<C> of;
  DeviceScalar rate;
  C epsilon;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const {
    const C mu = of.mu();
    const C next = of.next_mu();
    const C product = of.product.template as<C>() * mu;
    return {of.beta1,
            C(1) - of.beta1,
            of.beta2,
            C(1) - of.beta2,
            next / (C(1) - product * next),
            (C(1) - mu) / (C(1) - product),
            rate.template as<C>(),
            C(1) / std::sqrt(C(1) - of.next_power2()),
            epsilon};
  }
};

/// The scalars of a RAdam step.
template <typename C>
struct RadamNumbers {
  C beta1, beta2;
  DeviceScalar power1;  // of the previous step, like the next two
  DeviceScalar power2;
  DeviceScalar rho;

  PHI_HD C next_power1() const { return power1.template as<C>() * beta1; }
  PHI_HD C next_power2() const { return power2.template as<C>() * beta2; }
  PHI_HD C next_rho() const {
    const C power = next_power2();
    return (rho.template as<C>() * (beta2 - power) + power) / (C(1) - power);
  }
};

template <typename C>
struct RadamMaker {
  using Function = RadamStep<C>;
  RadamNumbers<C> of;
  DeviceScalar rate;
  C epsilon;
  PHI_HD bool is_taken() const { return true; }
  PHI_HD Function step() const {
    const C longest = C(2) / (C(1) - of.beta2) - C(1);
    const C length = longest - C(2) * of.next_rho();
    const bool adapts = length > C(5);
    C by = rate.template as<C>() / (C(1) - of.next_power1());
    if (adapts) {
      by *= std::sqrt(C(1) - of.next_power2()) *
            std::sqrt((length - C(4)) * (length - C(2)) * longest /
                      ((longest - C(4)) * (longest - C(2)) * length));
    }
    return {of.beta1, C(1) - of.beta1, of.beta2, C(1) - of.beta2, by, epsilon, adapts};
  }
};

// The scalars after a step.
template <typename Of>
struct NextPower1 {
  Of of;
  PHI_HD auto operator()() const { return of.next_power1(); }
};
template <typename Of>
struct NextPower2 {
  Of of;
  PHI_HD auto operator()() const { return of.next_power2(); }
};
template <typename Of>
struct NextProduct {
  Of of;
  PHI_HD auto operator()() const { return of.next_product(); }
};
template <typename Of>
struct NextDecayPower {
  Of of;
  PHI_HD auto operator()() const { return of.next_decay_power(); }
};
template <typename Of>
struct NextRho {
  Of of;
  PHI_HD auto operator()() const { return of.next_rho(); }
};

}  // namespace

template <typename T, typename Context>
void AdagradKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                   const DenseTensor& moment, const DenseTensor& learning_rate,
                   const DenseTensor* master_param, float epsilon, DenseTensor* param_out,
                   DenseTensor* moment_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(
      ctx, {param, grad, master_param, param_out, master_param_out},
      {OptimizerState{moment, moment_out}},
      RatedMaker<C, AdagradStep<C>>{{C(1), C(1), C(0), epsilon}, DeviceScalar(learning_rate)});
}

/// moment = decay * moment + (1 - decay) * grad^2.
template <typename T, typename Context>
void DecayedAdagradKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                          const DenseTensor& moment, const DenseTensor& learning_rate, float decay,
                          float epsilon, DenseTensor* param_out, DenseTensor* moment_out) {
  using C = compute_t<T>;
  take_step<T>(ctx, {param, grad, nullptr, param_out, nullptr},
               {OptimizerState{moment, moment_out}},
               RatedMaker<C, AdagradStep<C>>{{decay, C(1) - C(decay), C(0), epsilon},
                                             DeviceScalar(learning_rate)});
}

template <typename T, typename Context>
void AdadeltaKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                    const DenseTensor& avg_squared_grad, const DenseTensor& avg_squared_update,
                    const DenseTensor& learning_rate, const DenseTensor* master_param, float rho,
                    float epsilon, DenseTensor* param_out, DenseTensor* moment_out,
                    DenseTensor* inf_norm_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out},
               {OptimizerState{avg_squared_grad, moment_out},
                OptimizerState{avg_squared_update, inf_norm_out}},
               RatedMaker<C, AdadeltaStep<C>>{{rho, C(1) - C(rho), C(0), epsilon},
                                              DeviceScalar(learning_rate)});
}

/// The caller updates beta1_pow.
template <typename T, typename Context>
void AdamaxKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                  const DenseTensor& learning_rate, const DenseTensor& moment,
                  const DenseTensor& inf_norm, const DenseTensor& beta1_pow,
                  const DenseTensor* master_param, float beta1, float beta2, float epsilon,
                  DenseTensor* param_out, DenseTensor* moment_out, DenseTensor* inf_norm_out,
                  DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out},
               {OptimizerState{moment, moment_out}, OptimizerState{inf_norm, inf_norm_out}},
               AdamaxMaker<C>{{beta1, C(1) - C(beta1), beta2, C(0), epsilon},
                              DeviceScalar(learning_rate),
                              DeviceScalar(beta1_pow)});
}

template <typename T, typename Context>
void RmspropKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& mean_square,
                   const DenseTensor& grad, const DenseTensor& moment,
                   const DenseTensor& learning_rate, const DenseTensor* mean_grad,
                   const DenseTensor* master_param, float epsilon, float decay, float momentum,
                   bool centered, DenseTensor* param_out, DenseTensor* moment_out,
                   DenseTensor* mean_square_out, DenseTensor* mean_grad_out,
                   DenseTensor* master_param_outs) {
  using C = compute_t<T>;
  const TrainedParam x{param, grad, master_param, param_out, master_param_outs};
  const OptimizerState square{mean_square, mean_square_out};
  const OptimizerState velocity{moment, moment_out};
  if (centered) {
    take_step<T>(
        ctx, x, {square, velocity, OptimizerState{*mean_grad, mean_grad_out}},
        RatedMaker<C, RmspropStep<C, true>>{{decay, C(1) - C(decay), momentum, C(0), epsilon},
                                            DeviceScalar(learning_rate)});
  } else {
    take_step<T>(
        ctx, x, {square, velocity},
        RatedMaker<C, RmspropStep<C, false>>{{decay, C(1) - C(decay), momentum, C(0), epsilon},
                                             DeviceScalar(learning_rate)});
    if (mean_grad) keep(ctx, *mean_grad, mean_grad_out);
  }
}

/// mu of step t is beta1 * (1 - 0.96^(t * momentum_decay) / 2). momentum_decay_pow is 0.96^t, and
/// mu_product the product of all mu.
template <typename T, typename Context>
void NadamKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& learning_rate, const DenseTensor& momentum_decay_pow,
                 const DenseTensor& beta2_pow, const DenseTensor& mu_product,
                 const DenseTensor& moment1, const DenseTensor& moment2,
                 const DenseTensor* master_param, float beta1, float beta2, float epsilon,
                 float momentum_decay, DenseTensor* param_out, DenseTensor* momentum_decay_pow_out,
                 DenseTensor* beta2_pow_out, DenseTensor* mu_product_out, DenseTensor* moment1_out,
                 DenseTensor* moment2_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  using Numbers = NadamNumbers<C>;
  const Numbers of{beta1,
                   beta2,
                   momentum_decay,
                   DeviceScalar(momentum_decay_pow),
                   DeviceScalar(beta2_pow),
                   DeviceScalar(mu_product)};
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out},
               {OptimizerState{moment1, moment1_out}, OptimizerState{moment2, moment2_out}},
               NadamMaker<C>{of, DeviceScalar(learning_rate), epsilon});
  // mu_product first, because it depends on the previous values of the others.
  set_number_of(ctx, mu_product_out, NextProduct<Numbers>{of});
  set_number_of(ctx, momentum_decay_pow_out, NextDecayPower<Numbers>{of});
  set_number_of(ctx, beta2_pow_out, NextPower2<Numbers>{of});
}

/// rho of step t, updated from the previous one, is t * beta2^t / (1 - beta2^t).
template <typename T, typename Context>
void RadamKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& learning_rate, const DenseTensor& beta1_pow,
                 const DenseTensor& beta2_pow, const DenseTensor& rho, const DenseTensor& moment1,
                 const DenseTensor& moment2, const DenseTensor* master_param, float beta1,
                 float beta2, float epsilon, DenseTensor* param_out, DenseTensor* beta1_pow_out,
                 DenseTensor* beta2_pow_out, DenseTensor* rho_out, DenseTensor* moment1_out,
                 DenseTensor* moment2_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  using Numbers = RadamNumbers<C>;
  const Numbers of{beta1, beta2, DeviceScalar(beta1_pow), DeviceScalar(beta2_pow),
                   DeviceScalar(rho)};
  take_step<T>(ctx, {param, grad, master_param, param_out, master_param_out},
               {OptimizerState{moment1, moment1_out}, OptimizerState{moment2, moment2_out}},
               RadamMaker<C>{of, DeviceScalar(learning_rate), epsilon});
  // rho first, because it depends on the previous value of the second power.
  set_number_of(ctx, rho_out, NextRho<Numbers>{of});
  set_number_of(ctx, beta1_pow_out, NextPower1<Numbers>{of});
  set_number_of(ctx, beta2_pow_out, NextPower2<Numbers>{of});
}

template <typename T, typename Context>
void FtrlKernel(const Context& ctx, const DenseTensor& param,
                const DenseTensor& squared_accumulator, const DenseTensor& linear_accumulator,
                const DenseTensor& grad, const DenseTensor& learning_rate, float l1, float l2,
                float lr_power, DenseTensor* param_out, DenseTensor* squared_accum_out,
                DenseTensor* linear_accum_out) {
  using C = compute_t<T>;
  const TrainedParam x{param, grad, nullptr, param_out, nullptr};
  const OptimizerState squares{squared_accumulator, squared_accum_out};
  const OptimizerState linear{linear_accumulator, linear_accum_out};
  if (lr_power == -0.5f) {
    take_step<T>(
        ctx, x, {squares, linear},
        RatedMaker<C, FtrlStep<C, true>>{{C(0), l1, l2, C(0.5)}, DeviceScalar(learning_rate)});
  } else {
    take_step<T>(
        ctx, x, {squares, linear},
        RatedMaker<C, FtrlStep<C, false>>{{C(0), l1, l2, -lr_power}, DeviceScalar(learning_rate)});
  }
}

PHI_REGISTER_KERNEL(adagrad, PHI_DEVICE, AdagradKernel, Floats);
PHI_REGISTER_KERNEL(decayed_adagrad, PHI_DEVICE, DecayedAdagradKernel, Floats);
PHI_REGISTER_KERNEL(adadelta, PHI_DEVICE, AdadeltaKernel, Floats);
PHI_REGISTER_KERNEL(adamax, PHI_DEVICE, AdamaxKernel, Floats);
PHI_REGISTER_KERNEL(rmsprop, PHI_DEVICE, RmspropKernel, Floats);
PHI_REGISTER_KERNEL(nadam, PHI_DEVICE, NadamKernel, Floats);
PHI_REGISTER_KERNEL(radam, PHI_DEVICE, RadamKernel, Floats);
PHI_REGISTER_KERNEL(ftrl, PHI_DEVICE, FtrlKernel, Floats);

}  // namespace phi
