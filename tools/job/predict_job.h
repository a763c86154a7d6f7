// Predicts a job's step: records its ranks dry, one for all that do the same, and simulates them on
// a machine.
#pragma once

#include <cstdint>
#include <optional>

#include "api/simulation/predict.h"
#include "distributed/simulator/machine.h"
#include "tools/job/rank_records.h"
#include "tools/job/setup.h"

namespace phi::job {

/// Errors: InvalidArgument with file and line for a job on another kind of device than the machine,
/// or with keys whose effect on time the machine does not have.
void check_fits(const JobConfig& config, const distributed::simulator::MachineModel& machine);

/// The flops of a step without recomputation, as if one rank computed it: copies of values on
/// several ranks count once. Nothing without the machine's peak of the job's dtype.
std::optional<double> model_flops(const Setup& setup,
                                  const distributed::simulator::MachineModel& machine);

struct PredictedJob {
  simulation::RecordedWorld world;
  simulation::PredictedStep step;
};

/// predict_job for a config that differs in its layout from that of the records' inputs, which have
/// these model_flops.
PredictedJob predict_config(const JobConfig& config, RankRecords& records,
                            const distributed::simulator::MachineModel& machine,
                            std::optional<double> model_flops,
                            const distributed::simulator::SimulateOptions& options = {});

/// A job of this many steps, of mode forward or train, whose mesh is settled. Bytes are those of
/// all steps; if there is more than one, the second is predicted, which later ones equal. Errors:
/// those of check_fits, of the job's operators and of the simulator.
PredictedJob predict_job(const Setup& setup, int64_t steps,
                         const distributed::simulator::MachineModel& machine,
                         const distributed::simulator::SimulateOptions& options = {});

}  // namespace phi::job
