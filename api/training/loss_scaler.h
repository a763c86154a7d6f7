// Loss scaling for float16 (Micikevicius et al. 2018, "Mixed Precision Training"). The loss is
// multiplied by a scale before the backward pass, so that small gradients do not underflow. A step
// with a gradient that is not finite is skipped and halves the scale.
#pragma once

#include <cstdint>

namespace phi::training {

class LossScaler {
 public:
  /// A constant scale of 1, for float32 and bfloat16.
  LossScaler() = default;
  /// The scale doubles after `growth_interval` finite steps in a row and halves after a step that
  /// is not finite, down to 1.
  explicit LossScaler(double initial, int64_t growth_interval = 2000)
      : scale_(initial), growth_interval_(growth_interval) {}

  double value() const { return scale_; }
  /// Finite steps in a row since the scale changed.
  int64_t finite_steps() const { return finite_steps_; }
  /// Sets the state. A constant scale ignores it.
  void restore(double value, int64_t finite_steps) {
    if (growth_interval_ == 0) return;
    scale_ = value;
    finite_steps_ = finite_steps;
  }
  void update(bool finite) {
    if (growth_interval_ == 0) return;
    if (!finite) {
      scale_ = scale_ > 1.0 ? scale_ / 2 : 1.0;
      finite_steps_ = 0;
    } else if (++finite_steps_ == growth_interval_) {
      scale_ *= 2;
      finite_steps_ = 0;
    }
  }

 private:
  double scale_ = 1.0;
  int64_t growth_interval_ = 0;  // 0: fixed
  int64_t finite_steps_ = 0;
};

}  // namespace phi::training
