// Adam and AdamW, for one param and for lists of params. optimizer_arrays.h describes dtypes and
// masters.
#pragma once

#include <cmath>
#include <span>
#include <type_traits>

#include "phi/generated/kernels/updates.h"
#include "phi/kernels/functors/optimizer.h"
#include "phi/kernels/templates/optimizer/optimizer_arrays.h"

namespace phi {
namespace {

/// The states of one param. `largest` is null without amsgrad.
struct AdamStates {
  OptimizerState moment1;
  OptimizerState moment2;
  const DenseTensor* largest;
  DenseTensor* largest_out;
  OptimizerState beta1_pow;
  OptimizerState beta2_pow;
};

struct AdamSettings {
  const Scalar& beta1;
  const Scalar& beta2;
  const Scalar& epsilon;
  const DenseTensor& learning_rate;
  double decay;  // decay of the weight, relative to the learning rate
  bool advances_powers;
  bool amsgrad;
  SkipFlag skip;
};

/// A step of Adam (Kingma, Ba, 2015) or AdamW (Loshchilov, Hutter, 2019). With b1 and b2 the powers
/// of the betas up to this step:
/// - m = moment1 / (1 - b1)
/// - v = moment2 / (1 - b2)
/// - param -= learning_rate * (m / (sqrt(v) + epsilon) + decay * param)
///
/// epsilon is added to sqrt(v). In terms of sqrt(moment2) it is therefore multiplied by
/// sqrt(1 - b2).
template <typename C, bool kLargest>
struct AdamMaker {
  using Function = AdamStep<C, kLargest>;
  double beta1;
  double beta2;
  double epsilon;
  double decay;
  DeviceScalar power1;
  DeviceScalar power2;
  DeviceScalar rate;
  SkipFlag skip;

  PHI_HD bool is_taken() const { return !skip.is_set(); }
  // Values common to all elements are computed in double, from numbers in the compute type.
  PHI_HD Function step() const {
    const double b1 = power1.template as<C>();
    const double b2 = power2.template as<C>();
    const double by = rate.template as<C>();
    const double root = std::sqrt(1 - b2);
    return {static_cast<C>(beta1),
            static_cast<C>(1 - beta1),
            static_cast<C>(beta2),
            static_cast<C>(1 - beta2),
            static_cast<C>(by * root / (1 - b1)),
            C(1),
            static_cast<C>(epsilon * root),
            static_cast<C>(1 - by * decay)};
  }
};

template <typename T, typename Context>
void adam_step(const Context& ctx, const TrainedParam& x, const AdamStates& states,
               const AdamSettings& set) {
  using C = compute_t<T>;
  const double beta1 = set.beta1.to<C>();
  const double beta2 = set.beta2.to<C>();
  const DeviceScalar power1(states.beta1_pow.from);
  const DeviceScalar power2(states.beta2_pow.from);
  const auto with = [&]<bool kLargest>(std::bool_constant<kLargest>) {
    return AdamMaker<C, kLargest>{beta1,  beta2,  set.epsilon.to<double>(),        set.decay,
                                  power1, power2, DeviceScalar(set.learning_rate), set.skip};
  };
  if (set.amsgrad) {
    take_step<T>(
        ctx, x,
        {states.moment1, states.moment2, OptimizerState{*states.largest, states.largest_out}},
        with(std::true_type()));
  } else {
    take_step<T>(ctx, x, {states.moment1, states.moment2}, with(std::false_type()));
    if (states.largest) keep(ctx, *states.largest, states.largest_out);
  }
  set_number_of(ctx, states.beta1_pow.to,
                ScaledScalar<C>{power1, set.advances_powers ? beta1 : 1.0, set.skip});
  set_number_of(ctx, states.beta2_pow.to,
                ScaledScalar<C>{power2, set.advances_powers ? beta2 : 1.0, set.skip});
}

using Arrays = std::span<const DenseTensor* const>;
using Outs = std::span<DenseTensor* const>;

/// The params of a list with their states and outputs.
struct AdamLists {
  Arrays param, grad, moment1, moment2, largest, beta1_pow, beta2_pow, master;
  Outs param_out, moment1_out, moment2_out, largest_out, beta1_pow_out, beta2_pow_out, master_out;

  TrainedParam trained(size_t i) const {
    const bool has_master = !master.empty();
    return {*param[i], *grad[i], has_master ? master[i] : nullptr, param_out[i],
            has_master ? master_out[i] : nullptr};
  }
  AdamStates states(size_t i) const {
    const bool has_largest = !largest.empty();
    return {{*moment1[i], moment1_out[i]},      {*moment2[i], moment2_out[i]},
            has_largest ? largest[i] : nullptr, has_largest ? largest_out[i] : nullptr,
            {*beta1_pow[i], beta1_pow_out[i]},  {*beta2_pow[i], beta2_pow_out[i]}};
  }
};

}  // namespace

template <typename T, typename Context>
void AdamwKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& learning_rate, const DenseTensor& moment1,
                 const DenseTensor& moment2, const DenseTensor* moment2_max,
                 const DenseTensor& beta1_pow, const DenseTensor& beta2_pow,
                 const DenseTensor* master_param, const DenseTensor* skip_update,
                 const Scalar& beta1, const Scalar& beta2, const Scalar& epsilon, float lr_ratio,
                 float coeff, bool with_decay, bool /*lazy_mode*/,
                 int64_t /*min_row_size_to_use_multithread*/, bool /*multi_precision*/,
                 bool use_global_beta_pow, bool amsgrad, DenseTensor* param_out,
                 DenseTensor* moment1_out, DenseTensor* moment2_out, DenseTensor* moment2_max_out,
                 DenseTensor* beta1_pow_out, DenseTensor* beta2_pow_out,
                 DenseTensor* master_param_out) {
  const TrainedParam x{param, grad, master_param, param_out, master_param_out};
  const AdamStates states{
      {moment1, moment1_out}, {moment2, moment2_out},     moment2_max,
      moment2_max_out,        {beta1_pow, beta1_pow_out}, {beta2_pow, beta2_pow_out}};
  const double decay = with_decay ? static_cast<double>(lr_ratio) * coeff : 0.0;
  adam_step<T>(ctx, x, states,
               {beta1, beta2, epsilon, learning_rate, decay, !use_global_beta_pow, amsgrad,
                SkipFlag(skip_update)});
}

template <typename T, typename Context>
void AdamKernel(const Context& ctx, const DenseTensor& param, const DenseTensor& grad,
                const DenseTensor& learning_rate, const DenseTensor& moment1,
                const DenseTensor& moment2, const DenseTensor* moment2_max,
                const DenseTensor& beta1_pow, const DenseTensor& beta2_pow,
                const DenseTensor* master_param, const DenseTensor* skip_update,
                const Scalar& beta1, const Scalar& beta2, const Scalar& epsilon, bool lazy_mode,
                int64_t min_row_size_to_use_multithread, bool multi_precision,
                bool use_global_beta_pow, bool amsgrad, DenseTensor* param_out,
                DenseTensor* moment1_out, DenseTensor* moment2_out, DenseTensor* moment2_max_out,
                DenseTensor* beta1_pow_out, DenseTensor* beta2_pow_out,
                DenseTensor* master_param_out) {
  AdamwKernel<T>(ctx, param, grad, learning_rate, moment1, moment2, moment2_max, beta1_pow,
                 beta2_pow, master_param, skip_update, beta1, beta2, epsilon, 1.0f, 0.0f, false,
                 lazy_mode, min_row_size_to_use_multithread, multi_precision, use_global_beta_pow,
                 amsgrad, param_out, moment1_out, moment2_out, moment2_max_out, beta1_pow_out,
                 beta2_pow_out, master_param_out);
}

/// learning_rate may have one number for all params.
template <typename T, typename Context>
void MergedAdamKernel(const Context& ctx, Arrays param, Arrays grad, Arrays learning_rate,
                      Arrays moment1, Arrays moment2, Arrays moment2_max, Arrays beta1_pow,
                      Arrays beta2_pow, Arrays master_param, const Scalar& beta1,
                      const Scalar& beta2, const Scalar& epsilon, bool use_global_beta_pow,
                      bool amsgrad, Outs param_out, Outs moment1_out, Outs moment2_out,
                      Outs moment2_max_out, Outs beta1_pow_out, Outs beta2_pow_out,
                      Outs master_param_out) {
  const AdamLists lists{param,         grad,          moment1,         moment2,
                        moment2_max,   beta1_pow,     beta2_pow,       master_param,
                        param_out,     moment1_out,   moment2_out,     moment2_max_out,
                        beta1_pow_out, beta2_pow_out, master_param_out};
  for (size_t i = 0; i < param.size(); ++i) {
    const DenseTensor& rate = *learning_rate[learning_rate.size() == 1 ? 0 : i];
    adam_step<T>(
        ctx, lists.trained(i), lists.states(i),
        {beta1, beta2, epsilon, rate, 0.0, !use_global_beta_pow, amsgrad, SkipFlag(nullptr)});
  }
}

/// weight_decay has an effect only with use_adamw.
template <typename T, typename Context>
void FusedAdamKernel(const Context& ctx, Arrays params, Arrays grads,
                     const DenseTensor& learning_rate, Arrays moments1, Arrays moments2,
                     Arrays moments2_max, Arrays beta1_pows, Arrays beta2_pows,
                     Arrays master_params, const DenseTensor* skip_update, const Scalar& beta1,
                     const Scalar& beta2, const Scalar& epsilon, int /*chunk_size*/,
                     float weight_decay, bool use_adamw, bool /*multi_precision*/,
                     bool use_global_beta_pow, bool amsgrad, Outs params_out, Outs moments1_out,
                     Outs moments2_out, Outs moments2_max_out, Outs beta1_pows_out,
                     Outs beta2_pows_out, Outs master_params_out) {
  const AdamLists lists{params,         grads,          moments1,         moments2,
                        moments2_max,   beta1_pows,     beta2_pows,       master_params,
                        params_out,     moments1_out,   moments2_out,     moments2_max_out,
                        beta1_pows_out, beta2_pows_out, master_params_out};
  const double decay = use_adamw ? static_cast<double>(weight_decay) : 0.0;
  for (size_t i = 0; i < params.size(); ++i) {
    adam_step<T>(ctx, lists.trained(i), lists.states(i),
                 {beta1, beta2, epsilon, learning_rate, decay, !use_global_beta_pow, amsgrad,
                  SkipFlag(skip_update)});
  }
}

PHI_REGISTER_KERNEL(adam, PHI_DEVICE, AdamKernel, Floats);
PHI_REGISTER_KERNEL(adamw, PHI_DEVICE, AdamwKernel, Floats);
PHI_REGISTER_KERNEL(merged_adam, PHI_DEVICE, MergedAdamKernel, Floats);
PHI_REGISTER_KERNEL(fused_adam, PHI_DEVICE, FusedAdamKernel, Floats);

}  // namespace phi
