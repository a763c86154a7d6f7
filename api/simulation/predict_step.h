// Predicts a step that a program describes: a training loop of one's own.
//
//   const auto make_step = [&] {                       // called in the dry world of each rank
//     auto model = make_model(mesh);
//     return [model = std::move(model), batch] { train(*model, batch); };
//   };
//   const Prediction predicted =
//       predict_step(mesh, make_step, find_machine("h100_80g"), {.items = 2048}).prediction;
#pragma once

#include <cstdint>
#include <functional>

#include "api/simulation/predict.h"
#include "api/simulation/record_world.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/simulator/machine.h"

namespace phi::simulation {

/// Makes what a step needs, on placeholders, and returns the step.
using MakeStep = std::function<std::function<void()>()>;

struct StepOptions {
  int64_t items = 0;  // tokens or images of a step
  /// Steps of the job: bytes are of all, times are of the second, or of the first if it is the only
  /// one. Two of them run.
  int64_t steps = 2;
};

/// Records the launches, calls and memory of one rank. Errors: those of the step; InvalidArgument
/// for less than one step.
RecordedRank record_rank(const distributed::ProcessMesh& mesh, int64_t rank,
                         const MakeStep& make_step, int64_t steps);

/// Plays ranks of `mesh`, whose ranks are 0, 1, ..., each in a dry world of its own, and simulates
/// the step on the machine. Nothing is computed or sent. Errors: those of record_rank and predict.
PredictedStep predict_step(const distributed::ProcessMesh& mesh, const MakeStep& make_step,
                           const distributed::simulator::MachineModel& machine,
                           const StepOptions& options = {});

}  // namespace phi::simulation
