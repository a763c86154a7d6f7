// Predicts a job's step: records all its ranks dry, one after the other, and simulates them on a
// machine.
#pragma once

#include <cstdint>

#include "api/simulation/prediction.h"
#include "distributed/simulator/machine.h"
#include "tools/job/setup.h"

namespace phi::job {

/// A job of this many steps, of mode forward or train, whose mesh is settled. Bytes are those of
/// all steps; if there is more than one, the second is predicted, which later ones equal. Errors:
/// UsageError for a job on another kind of device than the machine; those of the job's operators
/// and of the simulator.
simulation::Prediction predict_job(const Setup& setup, int64_t steps,
                                   const distributed::simulator::MachineModel& machine);

}  // namespace phi::job
