// Predicts a step from recorded ranks.
#pragma once

#include <cstdint>

#include "api/simulation/prediction.h"
#include "api/simulation/record_world.h"
#include "distributed/simulator/machine.h"
#include "distributed/simulator/simulate.h"

namespace phi::simulation {

struct PredictedStep {
  Prediction prediction;
  distributed::simulator::SimulatedStep simulated;
};

/// `items` are the tokens or images of a step. Errors: those of the simulator.
PredictedStep predict(const RecordedWorld& world,
                      const distributed::simulator::MachineModel& machine, int64_t items,
                      const distributed::simulator::SimulateOptions& options = {});

}  // namespace phi::simulation
