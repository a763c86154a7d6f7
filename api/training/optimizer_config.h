// What an optimizer does with gradients, as numbers.
#pragma once

#include <cstdint>

namespace phi::training {

enum class OptimizerKind : uint8_t { kSgd, kMomentum, kAdamW };

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // AdamW: decoupled; else added to the gradient. Of matrices only.
  double momentum = 0.9;
  bool nesterov = false;
  /// Gradients are scaled down to this global 2-norm if theirs is larger; 0: never.
  double grad_clip = 0.0;
};

}  // namespace phi::training
