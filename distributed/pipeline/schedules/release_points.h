// When a stage may release what it has sent: where it knows that the receiver has taken it.
#pragma once

#include <cstddef>
#include <vector>

#include "distributed/pipeline/schedules/program_order.h"

namespace phi::distributed::pipeline {

/// For each step of `order`, the transfers (as indices in `order`) whose senders release their
/// buffers after it. Each transfer is released once, not before the action that consumes it: when
/// its sender first consumes something that its receiver has sent after that action, so that
/// waiting for the receiver takes no time. If there is no such action it is released after the
/// last step. `order` is a program_order of `schedule`.
std::vector<std::vector<size_t>> release_points(const Schedule& schedule,
                                                const std::vector<ScheduleStep>& order);

}  // namespace phi::distributed::pipeline
