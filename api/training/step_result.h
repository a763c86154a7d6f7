// What one step of training gave.
#pragma once

namespace phi::training {

struct StepResult {
  double loss = 0.0;  // mean over the batch
  // The loss and, where the step trains, all gradients. Those of a scaled loss (float16) that are
  // too large for it are not counted: the scale is halved for them.
  bool finite = true;
  // Where the step trains:
  double learning_rate = 0.0;
  double grad_norm = 0.0;  // before clipping
  double loss_scale = 1.0;
  bool applied = false;  // false: a gradient was not finite, the step was left out
};

}  // namespace phi::training
