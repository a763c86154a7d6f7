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

// Forwards of an interleaved schedule before the first backward, if no group of micro-batches is
// smaller than the others.
int interleaved_places(const Schedule& schedule, int stage) {
  const int p = schedule.stages;
  return 2 * (p - 1 - stage) + (schedule.chunks - 1) * p + 1;
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
      return {m, 0, m};
    case ScheduleKind::k1F1B:
      return {std::min(m, p - stage), 0, std::min(m, p - stage)};
    case ScheduleKind::kInterleaved: {
      if (v == 1) return memory_bound(ScheduleKind::k1F1B, schedule, stage);
      const int held = std::min(m * v, interleaved_places(schedule, stage));
      return {held, 0, held};
    }
    case ScheduleKind::kZeroBubbleH1:
      return {std::min(m, p - stage), std::min(m, stage + 1), std::min(m, p)};
    case ScheduleKind::kZeroBubbleH2:
      return {std::min(m, 2 * (p - stage) - 1), std::min(m, 2 * stage + 1), std::min(m, 2 * p - 1)};
  }
  throw errors::Internal("schedule kind {} is unknown.", static_cast<int>(kind));
}

// Forwards go in groups of `stages` micro-batches, each group through all chunks. A last group that
// is smaller has the places of a full one.
std::vector<int> held_by_chunk(ScheduleKind kind, const Schedule& schedule, int stage) {
  if (schedule.chunks == 1) return {memory_bound(kind, schedule, stage).input};
  std::vector<int> held(static_cast<size_t>(schedule.chunks));
  int places = interleaved_places(schedule, stage);
  for (int first = 0; places > 0 && first < schedule.micro_batches; first += schedule.stages) {
    const int group = std::min(schedule.stages, schedule.micro_batches - first);
    for (int& chunk : held) {
      chunk += std::min(places, group);
      places -= std::min(places, schedule.stages);
    }
  }
  return held;
}

}  // namespace phi::distributed::pipeline
