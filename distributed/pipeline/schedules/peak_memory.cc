// Counting micro-batches in flight.
#include "distributed/pipeline/schedules/peak_memory.h"

#include <algorithm>

#include "phi/common/errors.h"

namespace phi::distributed::pipeline {
namespace {

PeakMicroBatches peak_of(const std::vector<Action>& actions) {
  PeakMicroBatches now;
  PeakMicroBatches peak;
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::kForward:
        ++now.input;
        break;
      case ActionKind::kBackward:
        --now.input;
        break;
      case ActionKind::kBackwardInput:
        --now.input;
        ++now.weight;
        break;
      case ActionKind::kBackwardWeight:
        --now.weight;
        break;
    }
    peak.input = std::max(peak.input, now.input);
    peak.weight = std::max(peak.weight, now.weight);
    peak.total = std::max(peak.total, now.input + now.weight);
  }
  return peak;
}

}  // namespace

std::vector<PeakMicroBatches> peak_micro_batches(const Schedule& schedule) {
  std::vector<PeakMicroBatches> peaks;
  peaks.reserve(schedule.actions.size());
  for (const auto& actions : schedule.actions) peaks.push_back(peak_of(actions));
  return peaks;
}

MemoryBound memory_bound(ScheduleKind kind, const Schedule& schedule, int stage) {
  const int p = schedule.stages;
  const int m = schedule.micro_batches;
  const int v = schedule.chunks;
  switch (kind) {
    case ScheduleKind::kGPipe:
      return {m, m};
    case ScheduleKind::k1F1B:
      return {std::min(m, p - stage), std::min(m, p - stage)};
    case ScheduleKind::kInterleaved: {
      if (v == 1) return memory_bound(ScheduleKind::k1F1B, schedule, stage);
      const int held = std::min(m * v, 2 * (p - 1 - stage) + (v - 1) * p + 1);
      return {held, held};
    }
    case ScheduleKind::kZeroBubbleH1:
      return {std::min(m, p - stage), std::min(m, p)};
    case ScheduleKind::kZeroBubbleH2:
      return {std::min(m, 2 * (p - stage) - 1), std::min(m, 2 * p - 1)};
  }
  throw errors::Internal("schedule kind {} is unknown.", static_cast<int>(kind));
}

}  // namespace phi::distributed::pipeline
