// LossJumpDetector: detects losses that deviate from the preceding ones.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace phi::training {

class LossJumpDetector {
 public:
  /// A loss more than `z` standard deviations above the mean of the last `window` losses is a jump.
  /// With z = 0, or until the window is full, no loss is.
  explicit LossJumpDetector(double z, int64_t window = 64) : z_(z), window_(window) {}

  /// Adds a loss. Returns its deviation in standard deviations if it is a jump, else nothing. A
  /// jump does not enter the window. A second jump in a row is a new level: the window restarts
  /// with it.
  std::optional<double> add(double loss);

 private:
  double z_;
  int64_t window_;
  std::deque<double> losses_;
  bool jumped_ = false;
};

}  // namespace phi::training
