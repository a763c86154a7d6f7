// Checks that a job is the one for which its key `plan` was written (docs/plan.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "distributed/simulator/machine.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// The value of PlanConfig::of for this job, whose mesh is settled.
std::map<std::string, std::string> planned_values(const JobConfig& config);

/// The value of PlanConfig::machine_content: machines with the same contents have the same one,
/// whatever their files are called.
std::string content_of(const distributed::simulator::MachineModel& machine);

/// Call it before resolve_mesh(), whose errors may follow from these changes.
/// Errors: InvalidArgument with the remedies if the job has keys that differ from those that were
/// planned, other than those of the layout, and for another number of ranks than planned, unless
/// the job is elastic.
void check_plan(const JobConfig& config, int64_t ranks);

/// Compares the layout of a settled job with the planned one. If it differs, returns a note that
/// says how, and clears the predictions of the plan, which are those of another layout. Otherwise
/// returns an empty text.
std::string note_changed_layout(JobConfig* config);

/// Errors: InvalidArgument if the job was planned for another machine than `machine`, which
/// --machine selects.
void check_plan_machine(const JobConfig& config,
                        const distributed::simulator::MachineModel& machine);

}  // namespace phi::job
