// The result of one training step.
#pragma once

namespace phi::training {

struct StepResult {
  double loss = 0.0;  // mean over the batch
  // Whether the loss and, if the step trains, all gradients are finite. Gradients that overflow
  // only because of the loss scale (float16) do not count; they halve the scale.
  bool finite = true;
  // Set if the step trains:
  double learning_rate = 0.0;
  double grad_norm = 0.0;  // before clipping
  double loss_scale = 1.0;
  bool applied = false;  // false: a gradient was not finite and the step was skipped
};

}  // namespace phi::training
