// The job file that `autophi plan --out` writes.
#pragma once

#include <string>

#include "api/planning/plan.h"
#include "distributed/simulator/machine.h"
#include "tools/job/plan_subject_of.h"

namespace phi::job {

/// The file of the job with the layout of a plan and the key `plan`. `machine_name` is that of
/// --machine.
std::string planned_job_text(const PlannedJob& job, const planning::PlannedLayout& plan,
                             const distributed::simulator::MachineModel& machine,
                             const std::string& machine_name);

}  // namespace phi::job
