// Shape and dtype checks of optimizer steps on lists of params, and of loss scaling.
#include "phi/infermeta/merged_updates.h"

#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/optimizer.h"
#include "phi/infermeta/updates.h"

namespace phi {
namespace {

using Metas = std::span<const TensorMeta>;

void check_as_many(size_t size, size_t params, std::string_view name) {
  PHI_CHECK(size == params,
            errors::InvalidArgument("{} has {} elements for {} params; pass one for each.", name,
                                    size, params));
}
void check_as_many_or_none(size_t size, size_t params, std::string_view name) {
  if (size > 0) check_as_many(size, params, name);
}
void check_as_many_or_one(size_t size, size_t params, std::string_view name) {
  if (size != 1) check_as_many(size, params, name);
}

const TensorMeta* at_or_null(Metas list, size_t i) { return list.empty() ? nullptr : &list[i]; }

MetaList list(Metas metas) { return {metas.begin(), metas.end()}; }

void check_steps_count(const TensorMeta& count, std::string_view name) {
  PHI_CHECK(count.dims.numel() == 1 && count.dtype == DataType::INT32,
            errors::InvalidArgument("{} is {}, but it must be one int32; create it with full.",
                                    name, count.to_string()));
}

/// All must share a dtype, because the first one's selects the kernel.
void check_floating_list(Metas x, std::string_view name) {
  PHI_CHECK(!x.empty(),
            errors::InvalidArgument("{} is an empty list; pass it at least one tensor.", name));
  for (const TensorMeta& one : x) {
    PHI_CHECK(is_floating(one.dtype) && one.dtype == x[0].dtype,
              errors::InvalidArgument("{} contains {} and {}: all must be floating, of one dtype.",
                                      name, x[0].to_string(), one.to_string()));
  }
}

}  // namespace

std::tuple<MetaList, MetaList, MetaList> MergedMomentumInferMeta(
    Metas param, Metas grad, Metas velocity, Metas learning_rate, Metas master_param,
    const std::vector<std::string>& regularization_method,
    const std::vector<float>& regularization_coeff, bool multi_precision) {
  check_floating_list(param, "param");
  const size_t n = param.size();
  check_as_many(grad.size(), n, "grad");
  check_as_many(velocity.size(), n, "velocity");
  check_as_many_or_one(learning_rate.size(), n, "learning_rate");
  check_as_many_or_none(master_param.size(), n, "master_param");
  check_as_many_or_none(regularization_method.size(), n, "regularization_method");
  check_as_many(regularization_coeff.size(), regularization_method.size(), "regularization_coeff");
  for (size_t i = 0; i < n; ++i) {
    MomentumUpdateInferMeta(param[i], grad[i], velocity[i],
                            learning_rate[learning_rate.size() == 1 ? 0 : i],
                            at_or_null(master_param, i), multi_precision);
  }
  return {list(param), list(velocity), list(master_param)};
}

MergedAdamMetas MergedAdamInferMeta(Metas param, Metas grad, Metas learning_rate, Metas moment1,
                                    Metas moment2, Metas moment2_max, Metas beta1_pow,
                                    Metas beta2_pow, Metas master_param, bool multi_precision,
                                    bool amsgrad) {
  check_floating_list(param, "param");
  const size_t n = param.size();
  check_as_many(grad.size(), n, "grad");
  check_as_many_or_one(learning_rate.size(), n, "learning_rate");
  check_as_many(moment1.size(), n, "moment1");
  check_as_many(moment2.size(), n, "moment2");
  check_as_many_or_none(moment2_max.size(), n, "moment2_max");
  check_as_many(beta1_pow.size(), n, "beta1_pow");
  check_as_many(beta2_pow.size(), n, "beta2_pow");
  check_as_many_or_none(master_param.size(), n, "master_param");
  for (size_t i = 0; i < n; ++i) {
    AdamInferMeta(param[i], grad[i], learning_rate[learning_rate.size() == 1 ? 0 : i], moment1[i],
                  moment2[i], at_or_null(moment2_max, i), beta1_pow[i], beta2_pow[i],
                  at_or_null(master_param, i), nullptr, multi_precision, amsgrad);
  }
  return {list(param),     list(moment1),   list(moment2),     list(moment2_max),
          list(beta1_pow), list(beta2_pow), list(master_param)};
}

MergedAdamMetas FusedAdamInferMeta(Metas params, Metas grads, const TensorMeta& learning_rate,
                                   Metas moments1, Metas moments2, Metas moments2_max,
                                   Metas beta1_pows, Metas beta2_pows, Metas master_params,
                                   const TensorMeta* skip_update, bool multi_precision,
                                   bool amsgrad) {
  step_checks::flag(skip_update, "skip_update");
  return MergedAdamInferMeta(params, grads, {&learning_rate, 1}, moments1, moments2, moments2_max,
                             beta1_pows, beta2_pows, master_params, multi_precision, amsgrad);
}

std::tuple<MetaList, TensorMeta> CheckFiniteAndUnscaleInferMeta(Metas x, const TensorMeta& scale) {
  check_floating_list(x, "x");
  step_checks::numbers({{"scale", scale}});
  return {list(x), {Dims{1}, DataType::BOOL, x[0].layout}};
}

std::tuple<MetaList, TensorMeta, TensorMeta, TensorMeta> UpdateLossScalingInferMeta(
    Metas x, const TensorMeta& found_infinite, const TensorMeta& prev_loss_scaling,
    const TensorMeta& in_good_steps, const TensorMeta& in_bad_steps) {
  check_floating_list(x, "x");
  step_checks::flag(&found_infinite, "found_infinite");
  step_checks::numbers({{"prev_loss_scaling", prev_loss_scaling}});
  check_steps_count(in_good_steps, "in_good_steps");
  check_steps_count(in_bad_steps, "in_bad_steps");
  return {list(x), prev_loss_scaling, in_good_steps, in_bad_steps};
}

std::tuple<TensorMeta, TensorMeta> CheckNumericsInferMeta(const TensorMeta& tensor) {
  PHI_CHECK(is_floating(tensor.dtype),
            errors::InvalidArgument("tensor is {}, but it must be floating: all integers are "
                                    "finite.",
                                    tensor.to_string()));
  return {{Dims{3}, DataType::INT64, tensor.layout}, {Dims{3}, DataType::FLOAT32, tensor.layout}};
}

}  // namespace phi
