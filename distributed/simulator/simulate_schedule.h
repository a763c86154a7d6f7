// Simulates a pipeline schedule: start and end of each action, and the fraction of idle time.
//
//   const auto simulation = simulate_schedule(schedule, {18.522, 18.086, 9.337, 0.601});
//
// A stage runs its actions one after the other, each as soon as its data has arrived. Data reaches
// another stage `comm` after the end of the action that produces it; the link occupies neither
// stage (Qi et al. 2024, "Zero bubble pipeline parallelism", section 5 and tables 5 and 9).
#pragma once

#include "distributed/pipeline/schedules/schedule_times.h"

namespace phi::distributed::simulator {

/// Errors: those of pipeline::program_order.
pipeline::Simulation simulate_schedule(const pipeline::Schedule& schedule,
                                       const pipeline::ActionTimes& times);

}  // namespace phi::distributed::simulator
