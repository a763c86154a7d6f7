// Learning rate schedules: constant, cosine and step decay, each with linear warm-up.
#pragma once

#include <cstdint>
#include <vector>

namespace phi::training {

enum class LearningRateKind : uint8_t { kConstant, kCosine, kStep };

struct LearningRateSchedule {
  LearningRateKind kind = LearningRateKind::kConstant;
  double peak = 3e-4;
  /// During the first steps the rate is peak * step / warmup_steps.
  int64_t warmup_steps = 0;
  /// kCosine: the rate reaches min_ratio * peak at this step and stays there.
  int64_t total_steps = 0;
  double min_ratio = 0.1;
  /// kStep: the rate is multiplied by gamma after each of these steps.
  std::vector<int64_t> milestones{};
  double gamma = 0.1;

  /// The rate of step `step`, which counts from 1.
  /// Source   Loshchilov & Hutter 2017 (cosine, without restarts).
  double at(int64_t step) const;
};

}  // namespace phi::training
