// Options of an optimizer.
#pragma once

#include <cstdint>

namespace phi::training {

enum class OptimizerKind : uint8_t { kSgd, kMomentum, kAdamW };

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // AdamW: decoupled; others: added to the gradient. See OptimizedParameter::decays.
  double weight_decay = 0.01;
  double momentum = 0.9;
  bool nesterov = false;
  /// If the global 2-norm of the gradients is larger, they are scaled down to it; 0: no clipping.
  double grad_clip = 0.0;
};

}  // namespace phi::training
