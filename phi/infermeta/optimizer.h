// Shapes and dtypes of the optimizers' steps. Every tensor has param's shape; outputs are as the
// inputs that they update.
//
//   | param         floating
//   | grad          param's dtype or float32
//   | moments       (velocity, moment1, moment2) float32 beside a 16-bit param, else param's dtype
//   | master_param  float32, beside a 16-bit param only
//
// Errors: InvalidArgument naming the argument, its shape and dtype, and what fits.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// What the shape functions of steps have in common.
namespace step_checks {
struct Named {
  std::string_view name;
  const TensorMeta& meta;
};
void param_and_grad(const TensorMeta& param, const TensorMeta& grad);
/// As param in shape, of the dtype in which states are kept.
void states(const TensorMeta& param, std::initializer_list<Named> states);
void master(const TensorMeta& param, const TensorMeta* master);
/// The same; `is_wanted`: the caller says that there is one beside a 16-bit param.
void master(const TensorMeta& param, const TensorMeta* master, bool is_wanted);
/// One number, floating.
void numbers(std::initializer_list<Named> numbers);
/// One bool.
void flag(const TensorMeta* flag, std::string_view name);
/// What an optional tensor becomes.
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
