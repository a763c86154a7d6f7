// Rules of activations with weights, and of those that join channels.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// alpha lies as the dims of x that it has, whose splits it follows.
SpmdRule PReluInferSpmd(const TensorSpec& x, const TensorSpec& alpha,
                        const std::string& data_format, const std::string& mode);
SpmdRule PReluGradInferSpmd(const TensorSpec& x, const TensorSpec& alpha,
                            const TensorSpec& out_grad, const std::string& data_format,
                            const std::string& mode);
/// The channels, along `axis`, stay whole.
SpmdRule MaxOutInferSpmd(const TensorSpec& x, int axis);
SpmdRule MaxOutGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                             int axis);

}  // namespace phi::distributed
