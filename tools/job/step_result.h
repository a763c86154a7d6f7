// What one step of a job gave.
#pragma once

namespace phi::job {

struct StepResult {
  double loss = 0.0;  // mean over the global batch
  // Mode train only:
  double learning_rate = 0.0;
  double grad_norm = 0.0;  // before clipping
  double loss_scale = 1.0;
  bool applied = false;  // false: a gradient was not finite, the step was left out
};

}  // namespace phi::job
