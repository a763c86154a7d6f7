// LayerNorm and RMSNorm in terms of operators.
#include "api/nn/layers/norm.h"

#include "api/generated/ops/layer_norm.h"
#include "api/generated/ops/rms_norm.h"

namespace phi::nn {

LayerNorm::LayerNorm(Module& parent, const Name& name, int64_t d, double epsilon)
    : Layer(parent, name),
      scale_(parameter("scale", {d}, constant(1.0))),
      shift_(parameter("shift", {d}, constant(0.0))),
      epsilon_(static_cast<float>(epsilon)) {}

Tensor LayerNorm::forward(const Tensor& x) const {
  return layer_norm(x, scale_, shift_, epsilon_, /*begin_norm_axis=*/x.ndim() - 1);
}

RMSNorm::RMSNorm(Module& parent, const Name& name, int64_t d, double epsilon)
    : Layer(parent, name),
      scale_(parameter("scale", {d}, constant(1.0))),
      epsilon_(static_cast<float>(epsilon)) {}

Tensor RMSNorm::forward(const Tensor& x) const { return rms_norm(x, scale_, epsilon_); }

}  // namespace phi::nn
