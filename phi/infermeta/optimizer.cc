// Shape and dtype checks of the optimizers' steps.
#include "phi/infermeta/optimizer.h"

#include <string>
#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/normalisation.h"

namespace phi {
namespace {

void check_shape(const TensorMeta& param, const TensorMeta& x, std::string_view name) {
  PHI_CHECK(x.dims == param.dims,
            errors::InvalidArgument("{} is {} and param is {}: they must have one shape; pass the "
                                    "{} that belongs to this param.",
                                    name, x.to_string(), param.to_string(), name));
}

void check_param_and_grad(const TensorMeta& param, const TensorMeta& grad) {
  PHI_CHECK(is_floating(param.dtype), errors::InvalidArgument("param is {}, but it must be "
                                                              "floating; only such are trained.",
                                                              param.to_string()));
  check_shape(param, grad, "grad");
  PHI_CHECK(grad.dtype == param.dtype || grad.dtype == DataType::FLOAT32,
            errors::InvalidArgument("grad is {} and param is {}: grad must be {}float32; cast it.",
                                    grad.to_string(), param.to_string(),
                                    param.dtype == DataType::FLOAT32
                                        ? std::string()
                                        : std::string(name_of(param.dtype)) + " or "));
}

void check_moment(const TensorMeta& param, const TensorMeta& moment, std::string_view name) {
  check_shape(param, moment, name);
  const DataType kept = statistics_dtype(param.dtype);
  PHI_CHECK(
      moment.dtype == kept,
      errors::InvalidArgument("{} is {} and param is {}: {} must be {}; make it with zeros "
                              "of that dtype.",
                              name, moment.to_string(), param.to_string(), name, name_of(kept)));
}

void check_master(const TensorMeta& param, const TensorMeta* master) {
  if (!master) return;
  check_shape(param, *master, "master_param");
  PHI_CHECK(
      size_of(param.dtype) == 2 && master->dtype == DataType::FLOAT32,
      errors::InvalidArgument("master_param is {} and param is {}: a master copy is float32 and "
                              "stands beside a 16-bit param; {}.",
                              master->to_string(), param.to_string(),
                              size_of(param.dtype) == 2 ? "cast it" : "leave it out"));
}

std::optional<TensorMeta> if_given(const TensorMeta* meta) {
  return meta ? std::optional(*meta) : std::nullopt;
}

}  // namespace

std::tuple<TensorMeta, std::optional<TensorMeta>> SgdInferMeta(const TensorMeta& param,
                                                               const TensorMeta& grad,
                                                               const TensorMeta* master_param) {
  check_param_and_grad(param, grad);
  check_master(param, master_param);
  return {param, if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>> MomentumInferMeta(
    const TensorMeta& param, const TensorMeta& grad, const TensorMeta& velocity,
    const TensorMeta* master_param) {
  check_param_and_grad(param, grad);
  check_moment(param, velocity, "velocity");
  check_master(param, master_param);
  return {param, velocity, if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>> AdamwInferMeta(
    const TensorMeta& param, const TensorMeta& grad, const TensorMeta& moment1,
    const TensorMeta& moment2, const TensorMeta* master_param) {
  check_param_and_grad(param, grad);
  check_moment(param, moment1, "moment1");
  check_moment(param, moment2, "moment2");
  check_master(param, master_param);
  return {param, moment1, moment2, if_given(master_param)};
}

}  // namespace phi
