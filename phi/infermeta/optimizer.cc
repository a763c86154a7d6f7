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

}  // namespace

void step_checks::param_and_grad(const TensorMeta& param, const TensorMeta& grad) {
  PHI_CHECK(is_floating(param.dtype),
            errors::InvalidArgument(
                "param is {}, but it must be floating; only floating parameters are trained.",
                param.to_string()));
  check_shape(param, grad, "grad");
  PHI_CHECK(grad.dtype == param.dtype || grad.dtype == DataType::FLOAT32,
            errors::InvalidArgument("grad is {} and param is {}: grad must be {}float32; cast it.",
                                    grad.to_string(), param.to_string(),
                                    param.dtype == DataType::FLOAT32
                                        ? std::string()
                                        : std::string(name_of(param.dtype)) + " or "));
}

void step_checks::states(const TensorMeta& param, std::initializer_list<Named> states) {
  const DataType kept = statistics_dtype(param.dtype);
  for (const auto& [name, state] : states) {
    check_shape(param, state, name);
    PHI_CHECK(state.dtype == kept,
              errors::InvalidArgument(
                  "{} is {} and param is {}: {} must be {}; create it with zeros of that dtype.",
                  name, state.to_string(), param.to_string(), name, name_of(kept)));
  }
}

void step_checks::master(const TensorMeta& param, const TensorMeta* master) {
  if (!master) return;
  check_shape(param, *master, "master_param");
  PHI_CHECK(size_of(param.dtype) == 2 && master->dtype == DataType::FLOAT32,
            errors::InvalidArgument("master_param is {} and param is {}: a master copy is float32 "
                                    "and belongs to a 16-bit param; {}.",
                                    master->to_string(), param.to_string(),
                                    size_of(param.dtype) == 2 ? "cast it" : "omit it"));
}

void step_checks::master(const TensorMeta& param, const TensorMeta* master, bool is_wanted) {
  step_checks::master(param, master);
  PHI_CHECK(master || !is_wanted || size_of(param.dtype) != 2,
            errors::InvalidArgument("multi_precision is true and param is {}, but there is no "
                                    "master_param; cast param to float32 for one.",
                                    param.to_string()));
}

void step_checks::numbers(std::initializer_list<Named> numbers) {
  for (const auto& [name, number] : numbers) {
    PHI_CHECK(number.dims.numel() == 1 && is_floating(number.dtype),
              errors::InvalidArgument(
                  "{} is {}, but it must be one floating number; create it with full.", name,
                  number.to_string()));
  }
}

void step_checks::flag(const TensorMeta* flag, std::string_view name) {
  PHI_CHECK(!flag || (flag->dims.numel() == 1 && flag->dtype == DataType::BOOL),
            errors::InvalidArgument("{} is {}, but it must be a single bool; create it with full.",
                                    name, flag->to_string()));
}

std::optional<TensorMeta> step_checks::if_given(const TensorMeta* meta) {
  return meta ? std::optional(*meta) : std::nullopt;
}

std::tuple<TensorMeta, std::optional<TensorMeta>> SgdInferMeta(const TensorMeta& param,
                                                               const TensorMeta& grad,
                                                               const TensorMeta* master_param) {
  step_checks::param_and_grad(param, grad);
  step_checks::master(param, master_param);
  return {param, step_checks::if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>> MomentumInferMeta(
    const TensorMeta& param, const TensorMeta& grad, const TensorMeta& velocity,
    const TensorMeta* master_param) {
  step_checks::param_and_grad(param, grad);
  step_checks::states(param, {{"velocity", velocity}});
  step_checks::master(param, master_param);
  return {param, velocity, step_checks::if_given(master_param)};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>> AdamwInferMeta(
    const TensorMeta& param, const TensorMeta& grad, const TensorMeta& moment1,
    const TensorMeta& moment2, const TensorMeta* master_param) {
  step_checks::param_and_grad(param, grad);
  step_checks::states(param, {{"moment1", moment1}, {"moment2", moment2}});
  step_checks::master(param, master_param);
  return {param, moment1, moment2, step_checks::if_given(master_param)};
}

}  // namespace phi
