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

#include <optional>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

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
