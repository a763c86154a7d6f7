// A window of losses.
#include "api/training/loss_jump_detector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace phi::training {

std::optional<double> LossJumpDetector::add(double loss) {
  if (z_ <= 0.0 || !std::isfinite(loss)) return std::nullopt;
  std::optional<double> jump;
  if (std::ssize(losses_) == window_) {
    const auto n = static_cast<double>(losses_.size());
    const double mean = std::accumulate(losses_.begin(), losses_.end(), 0.0) / n;
    double variance = 0.0;
    for (const double x : losses_) variance += (x - mean) * (x - mean) / n;
    // The lower limit keeps rounding errors of constant losses from being jumps.
    const double deviation = std::max(std::sqrt(variance), 1e-6 * std::max(std::abs(mean), 1e-6));
    const double z = (loss - mean) / deviation;
    if (z > z_) jump = z;
  }
  if (jump && !jumped_) {
    jumped_ = true;
    return jump;
  }
  const bool new_level = jump.has_value();
  jumped_ = false;
  if (new_level) losses_.clear();
  losses_.push_back(loss);
  if (std::ssize(losses_) > window_) losses_.pop_front();
  return std::nullopt;
}

}  // namespace phi::training
