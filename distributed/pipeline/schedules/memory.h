// How many micro-batches a stage holds at most. Times do not matter: a stage runs one action after
// the other.
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Counted in micro-batches through one model chunk: divide by the number of chunks for whole
/// micro-batches.
struct PeakMicroBatches {
  int input = 0;   // from the start of the forward to the end of the backward (for the input)
  int weight = 0;  // from there to the end of the backward for the weight
  /// Both together. What the weight's part keeps is at most what the whole backward does, so this
  /// many activations are enough.
  int total = 0;
  friend bool operator==(const PeakMicroBatches&, const PeakMicroBatches&) = default;
};

/// One per stage. The schedule must be complete.
std::vector<PeakMicroBatches> peak_micro_batches(const Schedule& schedule);

/// The `input` and `total` that a stage of the schedule may reach, as published: p stages, stage i,
/// m micro-batches, v chunks
///   | gpipe         m
///   | 1f1b          min(m, p - i)
///   | interleaved   min(m v, 2(p - 1 - i) + (v - 1) p + 1)
///   | zb_h1         min(m, p - i), in total min(m, p)
///   | zb_h2         min(m, 2(p - i) - 1), in total min(m, 2p - 1)
struct MemoryBound {
  int input = 0;
  int total = 0;
};
MemoryBound memory_bound(ScheduleKind kind, const Schedule& schedule, int stage);

}  // namespace phi::distributed::pipeline
