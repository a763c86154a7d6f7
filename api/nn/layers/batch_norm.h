// Batch normalisation of images.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

struct BatchNormOptions {
  double momentum = 0.9;  // share of the running mean and variance that a step keeps
  double epsilon = 1e-5;
};

/// (x - mean) / sqrt(variance + epsilon) * scale + shift for each channel of x [B,c,..] (Ioffe &
/// Szegedy 2015). In training mode, mean and variance are those of the whole batch, also if it is
/// sharded; otherwise they are the running ones. Parameters `scale` (ones) and `shift` (zeros),
/// buffers `running_mean` and `running_variance`, each [c].
class BatchNorm2d final : public Layer {
 public:
  BatchNorm2d(Module& parent, const Name& name, int64_t c, const BatchNormOptions& options = {});
  Tensor forward(const Tensor& x) const override;

 private:
  BatchNormOptions options_;
  const Tensor& scale_;
  const Tensor& shift_;
  const Tensor& mean_;
  const Tensor& variance_;
};

}  // namespace phi::nn
