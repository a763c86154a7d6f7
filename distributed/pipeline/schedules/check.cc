// The complete check: completeness, deadlocks, memory bound.
#include "distributed/pipeline/schedules/check.h"

#include <algorithm>

#include "distributed/pipeline/schedules/peak_memory.h"
#include "distributed/pipeline/schedules/program_order.h"
#include "phi/common/errors.h"

namespace phi::distributed::pipeline {
namespace {

void check_memory(const Schedule& schedule, ScheduleKind kind,
                  const std::vector<PeakMicroBatches>& peaks) {
  for (int stage = 0; stage < schedule.stages; ++stage) {
    const PeakMicroBatches& peak = peaks[static_cast<size_t>(stage)];
    const MemoryBound bound = memory_bound(kind, schedule, stage);
    PHI_CHECK(peak.input <= bound.input && peak.total <= bound.total,
              errors::InvalidArgument(
                  "schedule {}: stage {} has up to {} micro-batches in flight, {} with those that "
                  "wait for their backward_weight; its bounds are {} and {}.",
                  schedule.kind, stage, peak.input, peak.total, bound.input, bound.total));
  }
}

}  // namespace

void check(const Schedule& schedule) {
  program_order(schedule);  // refuses deadlocks
  for (const ScheduleKind kind : kScheduleKinds) {
    if (name_of(kind) == schedule.kind) check_memory(schedule, kind, peak_micro_batches(schedule));
  }
}

}  // namespace phi::distributed::pipeline
