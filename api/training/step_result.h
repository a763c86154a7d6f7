// What one step of training gave.
#pragma once

namespace phi::training {

struct StepResult {
  double loss = 0.0;  // mean over the batch
  // Where the step trains:
  double learning_rate = 0.0;
  double grad_norm = 0.0;  // before clipping; 0 if nobody asks for it
  double loss_scale = 1.0;
  bool applied = false;  // false: a gradient was not finite, the step was left out
};

}  // namespace phi::training
