// Shapes and dtypes of optimizer steps with Paddle's signatures. States have param's shape, and
// every output has the meta of the input that it updates. optimizer.h lists the dtypes.
//
// Errors: InvalidArgument, which names the argument, its shape and dtype, and what is accepted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// The outputs of a step: param, `kStates` states, and the optional master param.
template <int kStates>
struct StepMetas;
template <>
struct StepMetas<0> {
  using type = std::tuple<TensorMeta, std::optional<TensorMeta>>;
};
template <>
struct StepMetas<1> {
  using type = std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>>;
};
template <>
struct StepMetas<2> {
  using type = std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>>;
};
template <int kStates>
using step_metas_t = typename StepMetas<kStates>::type;

step_metas_t<0> SgdUpdateInferMeta(const TensorMeta& param, const TensorMeta& learning_rate,
                                   const TensorMeta& grad, const TensorMeta* master_param,
                                   bool multi_precision);
step_metas_t<1> MomentumUpdateInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                        const TensorMeta& velocity, const TensorMeta& learning_rate,
                                        const TensorMeta* master_param, bool multi_precision);
step_metas_t<1> AdagradInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                 const TensorMeta& moment, const TensorMeta& learning_rate,
                                 const TensorMeta* master_param, bool multi_precision);
step_metas_t<2> AdadeltaInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                  const TensorMeta& avg_squared_grad,
                                  const TensorMeta& avg_squared_update,
                                  const TensorMeta& learning_rate, const TensorMeta* master_param,
                                  bool multi_precision);
step_metas_t<2> AdamaxInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                const TensorMeta& learning_rate, const TensorMeta& moment,
                                const TensorMeta& inf_norm, const TensorMeta& beta1_pow,
                                const TensorMeta* master_param, bool multi_precision);
step_metas_t<2> AsgdInferMeta(const TensorMeta& param, const TensorMeta& grad,
                              const TensorMeta& learning_rate, const TensorMeta& d,
                              const TensorMeta& y, const TensorMeta& n,
                              const TensorMeta* master_param, bool multi_precision);
/// learning_rate is a state. learning_rate_range and etas have two numbers each.
step_metas_t<2> RpropInferMeta(const TensorMeta& param, const TensorMeta& grad,
                               const TensorMeta& prev, const TensorMeta& learning_rate,
                               const TensorMeta* master_param,
                               const TensorMeta& learning_rate_range, const TensorMeta& etas,
                               bool multi_precision);

/// (param_out, moment_out)
std::tuple<TensorMeta, TensorMeta> DecayedAdagradInferMeta(const TensorMeta& param,
                                                           const TensorMeta& grad,
                                                           const TensorMeta& moment,
                                                           const TensorMeta& learning_rate);
/// (param_out, squared_accum_out, linear_accum_out)
std::tuple<TensorMeta, TensorMeta, TensorMeta> FtrlInferMeta(const TensorMeta& param,
                                                             const TensorMeta& squared_accumulator,
                                                             const TensorMeta& linear_accumulator,
                                                             const TensorMeta& grad,
                                                             const TensorMeta& learning_rate);
/// (param_out, moment_out, mean_square_out, mean_grad_out, master_param_outs). mean_grad must be
/// present if `centered`.
std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
RmspropInferMeta(const TensorMeta& param, const TensorMeta& mean_square, const TensorMeta& grad,
                 const TensorMeta& moment, const TensorMeta& learning_rate,
                 const TensorMeta* mean_grad, const TensorMeta* master_param, bool centered,
                 bool multi_precision);

/// (param_out, moment1_out, moment2_out, moment2_max_out, beta1_pow_out, beta2_pow_out,
/// master_param_out)
using AdamMetas = std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>,
                             TensorMeta, TensorMeta, std::optional<TensorMeta>>;
/// moment2_max must be present if `amsgrad`.
AdamMetas AdamInferMeta(const TensorMeta& param, const TensorMeta& grad,
                        const TensorMeta& learning_rate, const TensorMeta& moment1,
                        const TensorMeta& moment2, const TensorMeta* moment2_max,
                        const TensorMeta& beta1_pow, const TensorMeta& beta2_pow,
                        const TensorMeta* master_param, const TensorMeta* skip_update,
                        bool multi_precision, bool amsgrad);
/// (param_out, moment1_out, moment2_out, beta1_pow_out, beta2_pow_out, master_param_outs)
std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>>
LambInferMeta(const TensorMeta& param, const TensorMeta& grad, const TensorMeta& learning_rate,
              const TensorMeta& moment1, const TensorMeta& moment2, const TensorMeta& beta1_pow,
              const TensorMeta& beta2_pow, const TensorMeta* master_param,
              const TensorMeta* skip_update, bool multi_precision);

/// (param_out, three numbers, moment1_out, moment2_out, master_param_out)
using CorrectedMetas = std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta,
                                  TensorMeta, std::optional<TensorMeta>>;
CorrectedMetas NadamInferMeta(const TensorMeta& param, const TensorMeta& grad,
                              const TensorMeta& learning_rate, const TensorMeta& momentum_decay_pow,
                              const TensorMeta& beta2_pow, const TensorMeta& mu_product,
                              const TensorMeta& moment1, const TensorMeta& moment2,
                              const TensorMeta* master_param, bool multi_precision);
CorrectedMetas RadamInferMeta(const TensorMeta& param, const TensorMeta& grad,
                              const TensorMeta& learning_rate, const TensorMeta& beta1_pow,
                              const TensorMeta& beta2_pow, const TensorMeta& rho,
                              const TensorMeta& moment1, const TensorMeta& moment2,
                              const TensorMeta* master_param, bool multi_precision);

/// The sums have their inputs' metas; the counts are int64. Errors: also InvalidArgument if
/// min_average_window is above max_average_window.
std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta>
AverageAccumulatesInferMeta(const TensorMeta& param, const TensorMeta& in_sum_1,
                            const TensorMeta& in_sum_2, const TensorMeta& in_sum_3,
                            const TensorMeta& in_num_accumulates,
                            const TensorMeta& in_old_num_accumulates,
                            const TensorMeta& in_num_updates, int64_t max_average_window,
                            int64_t min_average_window);

}  // namespace phi
