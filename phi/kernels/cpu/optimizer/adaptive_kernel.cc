// Steps whose size adapts to the gradients so far, on the CPU. Formulas: functors/optimizer.h;
// dtypes and masters: step_loop.h.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/updates.h"
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/functors/optimizer.h"

namespace phi {

template <typename T, typename Context>
void AdagradKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                   const DenseTensor& moment, const DenseTensor& learning_rate,
                   const DenseTensor* master_param, float epsilon, DenseTensor* param_out,
                   DenseTensor* moment_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{moment, moment_out}},
               AdagradStep<C>{C(1), C(1), number_at<C>(learning_rate), epsilon});
}

/// moment = decay * moment + (1 - decay) * grad^2.
template <typename T, typename Context>
void DecayedAdagradKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                          const DenseTensor& moment, const DenseTensor& learning_rate, float decay,
                          float epsilon, DenseTensor* param_out, DenseTensor* moment_out) {
  using C = compute_t<T>;
  take_step<T>({param, grad, nullptr, param_out, nullptr}, {State{moment, moment_out}},
               AdagradStep<C>{decay, C(1) - C(decay), number_at<C>(learning_rate), epsilon});
}

template <typename T, typename Context>
void AdadeltaKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                    const DenseTensor& avg_squared_grad, const DenseTensor& avg_squared_update,
                    const DenseTensor& learning_rate, const DenseTensor* master_param, float rho,
                    float epsilon, DenseTensor* param_out, DenseTensor* moment_out,
                    DenseTensor* inf_norm_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{avg_squared_grad, moment_out}, State{avg_squared_update, inf_norm_out}},
               AdadeltaStep<C>{rho, C(1) - C(rho), number_at<C>(learning_rate), epsilon});
}

/// beta1_pow is the caller's to advance.
template <typename T, typename Context>
void AdamaxKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                  const DenseTensor& learning_rate, const DenseTensor& moment,
                  const DenseTensor& inf_norm, const DenseTensor& beta1_pow,
                  const DenseTensor* master_param, float beta1, float beta2, float epsilon,
                  DenseTensor* param_out, DenseTensor* moment_out, DenseTensor* inf_norm_out,
                  DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C rate = number_at<C>(learning_rate) / (C(1) - number_at<C>(beta1_pow));
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{moment, moment_out}, State{inf_norm, inf_norm_out}},
               AdamaxStep<C>{beta1, C(1) - C(beta1), beta2, rate, epsilon});
}

template <typename T, typename Context>
void RmspropKernel(const Context&, const DenseTensor& param, const DenseTensor& mean_square,
                   const DenseTensor& grad, const DenseTensor& moment,
                   const DenseTensor& learning_rate, const DenseTensor* mean_grad,
                   const DenseTensor* master_param, float epsilon, float decay, float momentum,
                   bool centered, DenseTensor* param_out, DenseTensor* moment_out,
                   DenseTensor* mean_square_out, DenseTensor* mean_grad_out,
                   DenseTensor* master_param_outs) {
  using C = compute_t<T>;
  const Trained x{param, grad, master_param, param_out, master_param_outs};
  const State square{mean_square, mean_square_out};
  const State velocity{moment, moment_out};
  const C rate = number_at<C>(learning_rate);
  if (centered) {
    take_step<T>(x, {square, velocity, State{*mean_grad, mean_grad_out}},
                 RmspropStep<C, true>{decay, C(1) - C(decay), momentum, rate, epsilon});
  } else {
    take_step<T>(x, {square, velocity},
                 RmspropStep<C, false>{decay, C(1) - C(decay), momentum, rate, epsilon});
    keep(mean_grad, mean_grad_out);
  }
}

/// mu of step t is beta1 * (1 - 0.96^(t * momentum_decay) / 2); momentum_decay_pow is 0.96^t,
/// mu_product the product of all mu.
template <typename T, typename Context>
void NadamKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& learning_rate, const DenseTensor& momentum_decay_pow,
                 const DenseTensor& beta2_pow, const DenseTensor& mu_product,
                 const DenseTensor& moment1, const DenseTensor& moment2,
                 const DenseTensor* master_param, float beta1, float beta2, float epsilon,
                 float momentum_decay, DenseTensor* param_out, DenseTensor* momentum_decay_pow_out,
                 DenseTensor* beta2_pow_out, DenseTensor* mu_product_out, DenseTensor* moment1_out,
                 DenseTensor* moment2_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C b1 = beta1;
  const C b2 = beta2;
  const C decay = momentum_decay;
  const C base = static_cast<C>(0.96);
  const C decay_power = number_at<C>(momentum_decay_pow) * base;
  const C power2 = number_at<C>(beta2_pow) * b2;
  const C mu = b1 * (C(1) - C(0.5) * std::pow(decay_power, decay));
  const C next_mu = b1 * (C(1) - C(0.5) * std::pow(decay_power, decay) * std::pow(base, decay));
  const C product = number_at<C>(mu_product) * mu;
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{moment1, moment1_out}, State{moment2, moment2_out}},
               NadamStep<C>{b1, C(1) - b1, b2, C(1) - b2, next_mu / (C(1) - product * next_mu),
                            (C(1) - mu) / (C(1) - product), number_at<C>(learning_rate),
                            C(1) / std::sqrt(C(1) - power2), epsilon});
  set_number(momentum_decay_pow_out, decay_power);
  set_number(beta2_pow_out, power2);
  set_number(mu_product_out, product);
}

/// rho of step t, updated from that of the step before, is t * beta2^t / (1 - beta2^t).
template <typename T, typename Context>
void RadamKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& learning_rate, const DenseTensor& beta1_pow,
                 const DenseTensor& beta2_pow, const DenseTensor& rho, const DenseTensor& moment1,
                 const DenseTensor& moment2, const DenseTensor* master_param, float beta1,
                 float beta2, float epsilon, DenseTensor* param_out, DenseTensor* beta1_pow_out,
                 DenseTensor* beta2_pow_out, DenseTensor* rho_out, DenseTensor* moment1_out,
                 DenseTensor* moment2_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C b1 = beta1;
  const C b2 = beta2;
  const C power1 = number_at<C>(beta1_pow) * b1;
  const C power2 = number_at<C>(beta2_pow) * b2;
  const C ratio = (number_at<C>(rho) * (b2 - power2) + power2) / (C(1) - power2);
  const C longest = C(2) / (C(1) - b2) - C(1);
  const C length = longest - C(2) * ratio;
  const bool adapts = length > C(5);
  C rate = number_at<C>(learning_rate) / (C(1) - power1);
  if (adapts) {
    rate *= std::sqrt(C(1) - power2) * std::sqrt((length - C(4)) * (length - C(2)) * longest /
                                                 ((longest - C(4)) * (longest - C(2)) * length));
  }
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{moment1, moment1_out}, State{moment2, moment2_out}},
               RadamStep<C>{b1, C(1) - b1, b2, C(1) - b2, rate, epsilon, adapts});
  set_number(beta1_pow_out, power1);
  set_number(beta2_pow_out, power2);
  set_number(rho_out, ratio);
}

template <typename T, typename Context>
void FtrlKernel(const Context&, const DenseTensor& param, const DenseTensor& squared_accumulator,
                const DenseTensor& linear_accumulator, const DenseTensor& grad,
                const DenseTensor& learning_rate, float l1, float l2, float lr_power,
                DenseTensor* param_out, DenseTensor* squared_accum_out,
                DenseTensor* linear_accum_out) {
  using C = compute_t<T>;
  const Trained x{param, grad, nullptr, param_out, nullptr};
  const State squares{squared_accumulator, squared_accum_out};
  const State linear{linear_accumulator, linear_accum_out};
  const C rate = number_at<C>(learning_rate);
  if (lr_power == -0.5f) {
    take_step<T>(x, {squares, linear}, FtrlStep<C, true>{rate, l1, l2, C(0.5)});
  } else {
    take_step<T>(x, {squares, linear}, FtrlStep<C, false>{rate, l1, l2, -lr_power});
  }
}

PHI_REGISTER_KERNEL(adagrad, CPU, AdagradKernel, Floats);
PHI_REGISTER_KERNEL(decayed_adagrad, CPU, DecayedAdagradKernel, Floats);
PHI_REGISTER_KERNEL(adadelta, CPU, AdadeltaKernel, Floats);
PHI_REGISTER_KERNEL(adamax, CPU, AdamaxKernel, Floats);
PHI_REGISTER_KERNEL(rmsprop, CPU, RmspropKernel, Floats);
PHI_REGISTER_KERNEL(nadam, CPU, NadamKernel, Floats);
PHI_REGISTER_KERNEL(radam, CPU, RadamKernel, Floats);
PHI_REGISTER_KERNEL(ftrl, CPU, FtrlKernel, Floats);

}  // namespace phi
