// The formulas of learning rate schedules.
#include "api/training/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace phi::training {

double LearningRateSchedule::at(int64_t step) const {
  if (step <= warmup_steps) {
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (kind == LearningRateKind::kConstant) return peak;
  if (kind == LearningRateKind::kStep) {
    const auto passed = std::count_if(milestones.begin(), milestones.end(),
                                      [&](int64_t milestone) { return milestone < step; });
    return peak * std::pow(gamma, static_cast<double>(passed));
  }
  const auto span = static_cast<double>(std::max<int64_t>(1, total_steps - warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step - warmup_steps) / span);
  const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return peak * (min_ratio + (1.0 - min_ratio) * wave);
}

}  // namespace phi::training
