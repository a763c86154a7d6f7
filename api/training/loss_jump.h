// LossJump: tells losses that are far from those before them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace phi::training {

class LossJump {
 public:
  /// Losses more than `z` standard deviations above the mean of the last `window` ones are jumps;
  /// 0: none is. A window that is not full yet tells nothing.
  explicit LossJump(double z, int64_t window = 64) : z_(z), window_(window) {}

  /// How many standard deviations, if that is a jump. A jump does not enter the window; a
  /// second one in a row is a new level, with which the window begins anew.
  std::optional<double> add(double loss);

 private:
  double z_;
  int64_t window_;
  std::deque<double> losses_;
  bool jumped_ = false;
};

}  // namespace phi::training
