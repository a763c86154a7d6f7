// Predicts a job's step: records its ranks dry, one for all that do the same, and simulates them on
// a machine.
#pragma once

#include <cstdint>

#include "api/simulation/predict.h"
#include "distributed/simulator/machine.h"
#include "tools/job/setup.h"

namespace phi::job {

/// Records a rank of a job with this config, and the data of `inputs`. Errors: those of the job's
/// operators.
simulation::RecordedRank record_rank_of(const JobConfig& config, const Setup& inputs, int64_t steps,
                                        int64_t rank);

struct PredictedJob {
  simulation::RecordedWorld world;
  simulation::PredictedStep step;
};

/// predict_job for a config that differs from that of `inputs` in its layout. The data and weights
/// of `inputs` are used.
PredictedJob predict_config(const JobConfig& config, const Setup& inputs, int64_t steps,
                            const distributed::simulator::MachineModel& machine,
                            const distributed::simulator::SimulateOptions& options = {});

/// A job of this many steps, of mode forward or train, whose mesh is settled. Bytes are those of
/// all steps; if there is more than one, the second is predicted, which later ones equal. Errors:
/// InvalidArgument with file and line for a job on another kind of device than the machine, or with
/// keys whose effect on time the machine does not have; those of the job's operators and of the
/// simulator.
PredictedJob predict_job(const Setup& setup, int64_t steps,
                         const distributed::simulator::MachineModel& machine,
                         const distributed::simulator::SimulateOptions& options = {});

}  // namespace phi::job
