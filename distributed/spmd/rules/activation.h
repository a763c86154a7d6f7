// Sharding rules of activations with weights (prelu) and of activations over channels (maxout).
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// alpha follows the splits of x for the dims that it has.
SpmdRule PReluInferSpmd(const TensorSpec& x, const TensorSpec& alpha,
                        const std::string& data_format, const std::string& mode);
SpmdRule PReluGradInferSpmd(const TensorSpec& x, const TensorSpec& alpha,
                            const TensorSpec& out_grad, const std::string& data_format,
                            const std::string& mode);
/// The channels, along `axis`, must be whole.
SpmdRule MaxOutInferSpmd(const TensorSpec& x, int axis);
SpmdRule MaxOutGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                             int axis);

}  // namespace phi::distributed
