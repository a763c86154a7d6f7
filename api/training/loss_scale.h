// Loss scaling for float16 (Micikevicius et al. 2018, "Mixed Precision Training"): gradients are
// computed of a multiple of the loss, so that small ones do not vanish; a step with a gradient that
// is not finite is left out and the scale halved.
#pragma once

#include <cstdint>

namespace phi::training {

class LossScale {
 public:
  /// A scale of 1 that never changes: for float32 and bfloat16.
  LossScale() = default;
  /// Doubles after `growth_interval` finite steps in a row, halves after each other one.
  explicit LossScale(double initial, int64_t growth_interval = 2000)
      : scale_(initial), growth_interval_(growth_interval) {}

  double value() const { return scale_; }
  /// In a row, since the scale changed.
  int64_t finite_steps() const { return finite_steps_; }
  /// Goes on from there; one that never changes stays as it is.
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
