// The largest number of micro-batches whose activations a stage holds. Action times do not matter,
// because a stage runs its actions one after the other.
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Counted in micro-batches through one model chunk; divide by the number of chunks to get whole
/// micro-batches.
struct PeakMicroBatches {
  int input = 0;   // from the start of the forward to the end of the backward (or backward_input)
  int weight = 0;  // from there to the end of the backward_weight
  int total = 0;   // both together
  friend bool operator==(const PeakMicroBatches&, const PeakMicroBatches&) = default;
};

/// One entry per stage. The schedule must be complete (check_complete).
std::vector<PeakMicroBatches> peak_micro_batches(const Schedule& schedule);

/// The published bounds of `input` and `total` for a stage, with p stages, stage i, m micro-batches
/// and v chunks:
///   | gpipe         m
///   | 1f1b          min(m, p - i)
///   | interleaved   min(m v, 2(p - 1 - i) + (v - 1) p + 1)
///   | zb_h1         min(m, p - i), in total min(m, p)
///   | zb_h2         min(m, 2(p - i) - 1), in total min(m, 2p - 1)
/// `weight` is at most min(m, i + 1) for zb_h1, min(m, 2i + 1) for zb_h2, and 0 for the others.
struct MemoryBound {
  int input = 0;
  int weight = 0;
  int total = 0;
};
MemoryBound memory_bound(ScheduleKind kind, const Schedule& schedule, int stage);

/// The micro-batches that have passed each chunk of a stage when its first backward begins.
std::vector<int> held_by_chunk(ScheduleKind kind, const Schedule& schedule, int stage);

}  // namespace phi::distributed::pipeline
