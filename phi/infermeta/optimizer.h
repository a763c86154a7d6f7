// Shapes and dtypes of optimizer steps. Every tensor has param's shape, and every output has the
// meta of the input that it updates.
//
//   | param         floating
//   | grad          param's dtype or float32
//   | moments       (velocity, moment1, moment2) float32 for a half-precision param, else its dtype
//   | master_param  float32, only for a half-precision param
//
// Errors: InvalidArgument, which names the argument, its shape and dtype, and what is accepted.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Checks shared by the shape functions of optimizer steps.
namespace step_checks {
struct Named {
  std::string_view name;
  const TensorMeta& meta;
};
void param_and_grad(const TensorMeta& param, const TensorMeta& grad);
/// States have param's shape and the dtype of states (see above).
void states(const TensorMeta& param, std::initializer_list<Named> states);
void master(const TensorMeta& param, const TensorMeta* master);
/// Like `master`; `is_wanted` means that the caller requires one for a half-precision param.
void master(const TensorMeta& param, const TensorMeta* master, bool is_wanted);
/// Each is one floating number.
void numbers(std::initializer_list<Named> numbers);
/// One bool.
void flag(const TensorMeta* flag, std::string_view name);
/// The meta of an optional output that mirrors an optional input.
std::optional<TensorMeta> if_given(const TensorMeta* meta);
}  // namespace step_checks

/// (param_out, master_param_out)
std::tuple<TensorMeta, std::optional<TensorMeta>> SgdInferMeta(const TensorMeta& param,
                                                               const TensorMeta& grad,
                                                               const TensorMeta* master_param);

/// (param_out, velocity_out, master_param_out)
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>> MomentumInferMeta(
    const TensorMeta& param, const TensorMeta& grad, const TensorMeta& velocity,
    const TensorMeta* master_param);

/// (param_out, moment1_out, moment2_out, master_param_out)
std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>> AdamwInferMeta(
    const TensorMeta& param, const TensorMeta& grad, const TensorMeta& moment1,
    const TensorMeta& moment2, const TensorMeta* master_param);

}  // namespace phi
