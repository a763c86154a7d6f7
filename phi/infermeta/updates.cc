// Shape and dtype checks of optimizer steps with Paddle's signatures.
#include "phi/infermeta/updates.h"

#include "phi/common/errors.h"
#include "phi/infermeta/optimizer.h"

namespace phi {

using step_checks::if_given;

namespace {

/// Checks common to all steps: `states` have param's shape, `numbers` have one element each.
void check_step(const TensorMeta& param, const TensorMeta& grad, const TensorMeta* master,
                bool multi_precision, std::initializer_list<step_checks::Named> states,
                std::initializer_list<step_checks::Named> numbers) {
  step_checks::param_and_grad(param, grad);
  step_checks::states(param, states);
  step_checks::master(param, master, multi_precision);
  step_checks::numbers(numbers);
}

/// Errors: InvalidArgument if the tensor is absent and `attribute` requires it.
void check_given(const TensorMeta* meta, const char* name, bool is_wanted, const char* attribute) {
  PHI_CHECK(meta || !is_wanted,
            errors::InvalidArgument("{} is true, but {} is not passed; create it with zeros.",
                                    attribute, name));
}

void check_update_pair(const TensorMeta& pair, const char* name) {
  PHI_CHECK(pair.dims.numel() == 2 && is_floating(pair.dtype),
            errors::InvalidArgument("{} is {}, but it must be two floating numbers, the lower one "
                                    "first.",
                                    name, pair.to_string()));
}

void check_update_count(const TensorMeta& count, const char* name) {
  PHI_CHECK(count.dims.numel() == 1 && count.dtype == DataType::INT64,
            errors::InvalidArgument("{} is {}, but it must be one int64; create it with full.",
                                    name, count.to_string()));
}

}  // namespace

step_metas_t<0> SgdUpdateInferMeta(const TensorMeta& param, const TensorMeta& learning_rate,
                                   const TensorMeta& grad, const TensorMeta* master_param,
                                   bool multi_precision) {
  check_step(param, grad, master_param, multi_precision, {}, {{"learning_rate", learning_rate}});
  return {param, if_given(master_param)};
}

step_metas_t<1> MomentumUpdateInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                        const TensorMeta& velocity, const TensorMeta& learning_rate,
                                        const TensorMeta* master_param, bool multi_precision) {
  check_step(param, grad, master_param, multi_precision, {{"velocity", velocity}},
             {{"learning_rate", learning_rate}});
  return {param, velocity, if_given(master_param)};
}

step_metas_t<1> AdagradInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                 const TensorMeta& moment, const TensorMeta& learning_rate,
                                 const TensorMeta* master_param, bool multi_precision) {
  check_step(param, grad, master_param, multi_precision, {{"moment", moment}},
             {{"learning_rate", learning_rate}});
  return {param, moment, if_given(master_param)};
}

step_metas_t<2> AdadeltaInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                  const TensorMeta& avg_squared_grad,
                                  const TensorMeta& avg_squared_update,
                                  const TensorMeta& learning_rate, const TensorMeta* master_param,
                                  bool multi_precision) {
  check_step(param, grad, master_param, multi_precision,
             {{"avg_squared_grad", avg_squared_grad}, {"avg_squared_update", avg_squared_update}},
             {{"learning_rate", learning_rate}});
  return {param, avg_squared_grad, avg_squared_update, if_given(master_param)};
}

step_metas_t<2> AdamaxInferMeta(const TensorMeta& param, const TensorMeta& grad,
                                const TensorMeta& learning_rate, const TensorMeta& moment,
                                const TensorMeta& inf_norm, const TensorMeta& beta1_pow,
                                const TensorMeta* master_param, bool multi_precision) {
  check_step(param, grad, master_param, multi_precision,
             {{"moment", moment}, {"inf_norm", inf_norm}},
             {{"learning_rate", learning_rate}, {"beta1_pow", beta1_pow}});
  return {param, moment, inf_norm, if_given(master_param)};
}

step_metas_t<2> AsgdInferMeta(const TensorMeta& param, const TensorMeta& grad,
                              const TensorMeta& learning_rate, const TensorMeta& d,
                              const TensorMeta& y, const TensorMeta& n,
                              const TensorMeta* master_param, bool multi_precision) {
  check_step(param, grad, master_param, multi_precision, {{"d", d}, {"y", y}},
             {{"learning_rate", learning_rate}, {"n", n}});
  return {param, d, y, if_given(master_param)};
}

step_metas_t<2> RpropInferMeta(const TensorMeta& param, const TensorMeta& grad,
                               const TensorMeta& prev, const TensorMeta& learning_rate,
                               const TensorMeta* master_param,
                               const TensorMeta& learning_rate_range, const TensorMeta& etas,
                               bool multi_precision) {
  check_step(param, grad, master_param, multi_precision,
             {{"prev", prev}, {"learning_rate", learning_rate}}, {});
  check_update_pair(learning_rate_range, "learning_rate_range");
  check_update_pair(etas, "etas");
  return {param, prev, learning_rate, if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta> DecayedAdagradInferMeta(const TensorMeta& param,
                                                           const TensorMeta& grad,
                                                           const TensorMeta& moment,
                                                           const TensorMeta& learning_rate) {
  check_step(param, grad, nullptr, false, {{"moment", moment}}, {{"learning_rate", learning_rate}});
  return {param, moment};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> FtrlInferMeta(const TensorMeta& param,
                                                             const TensorMeta& squared_accumulator,
                                                             const TensorMeta& linear_accumulator,
                                                             const TensorMeta& grad,
                                                             const TensorMeta& learning_rate) {
  check_step(
      param, grad, nullptr, false,
      {{"squared_accumulator", squared_accumulator}, {"linear_accumulator", linear_accumulator}},
      {{"learning_rate", learning_rate}});
  return {param, squared_accumulator, linear_accumulator};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
RmspropInferMeta(const TensorMeta& param, const TensorMeta& mean_square, const TensorMeta& grad,
                 const TensorMeta& moment, const TensorMeta& learning_rate,
                 const TensorMeta* mean_grad, const TensorMeta* master_param, bool centered,
                 bool multi_precision) {
  check_step(param, grad, master_param, multi_precision,
             {{"mean_square", mean_square}, {"moment", moment}},
             {{"learning_rate", learning_rate}});
  check_given(mean_grad, "mean_grad", centered, "centered");
  if (mean_grad) step_checks::states(param, {{"mean_grad", *mean_grad}});
  return {param, moment, mean_square, if_given(mean_grad), if_given(master_param)};
}

AdamMetas AdamInferMeta(const TensorMeta& param, const TensorMeta& grad,
                        const TensorMeta& learning_rate, const TensorMeta& moment1,
                        const TensorMeta& moment2, const TensorMeta* moment2_max,
                        const TensorMeta& beta1_pow, const TensorMeta& beta2_pow,
                        const TensorMeta* master_param, const TensorMeta* skip_update,
                        bool multi_precision, bool amsgrad) {
  check_step(
      param, grad, master_param, multi_precision, {{"moment1", moment1}, {"moment2", moment2}},
      {{"learning_rate", learning_rate}, {"beta1_pow", beta1_pow}, {"beta2_pow", beta2_pow}});
  check_given(moment2_max, "moment2_max", amsgrad, "amsgrad");
  if (moment2_max) step_checks::states(param, {{"moment2_max", *moment2_max}});
  step_checks::flag(skip_update, "skip_update");
  return {
      param, moment1, moment2, if_given(moment2_max), beta1_pow, beta2_pow, if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>>
LambInferMeta(const TensorMeta& param, const TensorMeta& grad, const TensorMeta& learning_rate,
              const TensorMeta& moment1, const TensorMeta& moment2, const TensorMeta& beta1_pow,
              const TensorMeta& beta2_pow, const TensorMeta* master_param,
              const TensorMeta* skip_update, bool multi_precision) {
  AdamInferMeta(param, grad, learning_rate, moment1, moment2, nullptr, beta1_pow, beta2_pow,
                master_param, skip_update, multi_precision, false);
  return {param, moment1, moment2, beta1_pow, beta2_pow, if_given(master_param)};
}

CorrectedMetas NadamInferMeta(const TensorMeta& param, const TensorMeta& grad,
                              const TensorMeta& learning_rate, const TensorMeta& momentum_decay_pow,
                              const TensorMeta& beta2_pow, const TensorMeta& mu_product,
                              const TensorMeta& moment1, const TensorMeta& moment2,
                              const TensorMeta* master_param, bool multi_precision) {
  check_step(param, grad, master_param, multi_precision,
             {{"moment1", moment1}, {"moment2", moment2}},
             {{"learning_rate", learning_rate},
              {"momentum_decay_pow", momentum_decay_pow},
              {"beta2_pow", beta2_pow},
              {"mu_product", mu_product}});
  return {param,   momentum_decay_pow,    beta2_pow, mu_product, moment1,
          moment2, if_given(master_param)};
}

CorrectedMetas RadamInferMeta(const TensorMeta& param, const TensorMeta& grad,
                              const TensorMeta& learning_rate, const TensorMeta& beta1_pow,
                              const TensorMeta& beta2_pow, const TensorMeta& rho,
                              const TensorMeta& moment1, const TensorMeta& moment2,
                              const TensorMeta* master_param, bool multi_precision) {
  check_step(param, grad, master_param, multi_precision,
             {{"moment1", moment1}, {"moment2", moment2}},
             {{"learning_rate", learning_rate},
              {"beta1_pow", beta1_pow},
              {"beta2_pow", beta2_pow},
              {"rho", rho}});
  return {param, beta1_pow, beta2_pow, rho, moment1, moment2, if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta>
AverageAccumulatesInferMeta(const TensorMeta& param, const TensorMeta& in_sum_1,
                            const TensorMeta& in_sum_2, const TensorMeta& in_sum_3,
                            const TensorMeta& in_num_accumulates,
                            const TensorMeta& in_old_num_accumulates,
                            const TensorMeta& in_num_updates, int64_t max_average_window,
                            int64_t min_average_window) {
  check_step(param, param, nullptr, false,
             {{"in_sum_1", in_sum_1}, {"in_sum_2", in_sum_2}, {"in_sum_3", in_sum_3}}, {});
  check_update_count(in_num_accumulates, "in_num_accumulates");
  check_update_count(in_old_num_accumulates, "in_old_num_accumulates");
  check_update_count(in_num_updates, "in_num_updates");
  PHI_CHECK(min_average_window <= max_average_window,
            errors::InvalidArgument("min_average_window is {} and max_average_window is {}: the "
                                    "lower bound may not exceed the upper one.",
                                    min_average_window, max_average_window));
  return {in_sum_1, in_sum_2, in_sum_3, in_num_accumulates, in_old_num_accumulates, in_num_updates};
}

}  // namespace phi
