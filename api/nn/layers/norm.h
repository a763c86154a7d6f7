// Norms over the last tensor dim.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

/// (x - mean) / sqrt(variance + epsilon) * scale + shift (Ba et al. 2016); parameters `scale` [d]
/// (ones) and `shift` [d] (zeros).
class LayerNorm final : public Layer {
 public:
  LayerNorm(Module& parent, const Name& name, int64_t d, double epsilon = 1e-5);
  Tensor forward(const Tensor& x) const override;

 private:
  const Tensor& scale_;
  const Tensor& shift_;
  const float epsilon_;
};

/// x / sqrt(mean(x^2) + epsilon) * scale (Zhang & Sennrich 2019); parameter `scale` [d] (ones).
class RMSNorm final : public Layer {
 public:
  RMSNorm(Module& parent, const Name& name, int64_t d, double epsilon = 1e-5);
  Tensor forward(const Tensor& x) const override;

 private:
  const Tensor& scale_;
  const float epsilon_;
};

}  // namespace phi::nn
