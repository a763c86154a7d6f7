// Records the steps of each rank, and simulates the last ones together.
#include "tools/job/predict_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/simulation/record_step.h"
#include "api/training/trainer.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/simulator/simulate.h"
#include "phi/core/storage/memory_ledger.h"
#include "tools/cli/command_line.h"
#include "tools/job/build.h"
#include "tools/job/run_flags.h"

namespace phi::job {
namespace {

using distributed::RecordingWorld;
using distributed::World;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using simulation::Prediction;
using simulation::RankPrediction;

struct RecordedRank {
  RankProgram step;     // the last one that was recorded
  RankPrediction held;  // without times
};

RecordedRank record(const Setup& setup, int64_t steps, int64_t rank) {
  const JobConfig& config = setup.config;
  RecordingWorld world(rank, config.mesh.num_ranks());
  const World::Scope scope(world);
  world.rank_context().set_deferred_transfer(FLAGS_deferred_transfer);
  const MemoryLedger ledger(*world.rank_context().memory());
  const distributed::ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  const auto model = build_model(config, mesh, setup.weights ? &*setup.weights : nullptr);
  training::Trainer trainer(*model, config.model.row().loss, trainer_options(config));
  RecordedRank recorded;
  Counters before;
  const Counters& counters = world.rank_context().counters();
  const int64_t recorded_steps = std::min<int64_t>(2, steps);
  for (int64_t i = 0; i < recorded_steps; ++i) {
    before = counters;
    recorded.step = simulation::record_step(
        world, [&] { trainer.step(batches_of(config, *setup.data, trainer.next_batch())); });
  }
  const int64_t more = steps - recorded_steps;
  const auto in_all = [&](int64_t Counters::*bytes) {
    return counters.*bytes + more * (counters.*bytes - before.*bytes);
  };
  recorded.held.bytes_sent = in_all(&Counters::bytes_sent);
  recorded.held.bytes_received = in_all(&Counters::bytes_received);
  recorded.held.peak_tensor_bytes = world.rank_context().memory()->planned().peak;
  recorded.held.held_at_peak = ledger.at_peak();
  return recorded;
}

void check_device(const JobConfig& config, const MachineModel& machine) {
  if (config.place == machine.device) return;
  throw cli::UsageError(
      fmt::format("{} runs on place {}, and {} is a machine of device {}; "
                  "calibrate on the machine of the job.",
                  config.file, config.place, machine.file, machine.device));
}

}  // namespace

Prediction predict_job(const Setup& setup, int64_t steps, const MachineModel& machine) {
  const JobConfig& config = setup.config;
  check_device(config, machine);
  std::vector<RankProgram> programs;
  Prediction out;
  for (int64_t rank = 0; rank < config.mesh.num_ranks(); ++rank) {
    RecordedRank recorded = record(setup, steps, rank);
    programs.push_back(std::move(recorded.step));
    out.ranks.push_back(recorded.held);
  }
  const auto simulated = distributed::simulator::simulate(programs, machine);
  out.step_seconds = simulated.seconds;
  const int64_t items = config.run.global_batch * items_per_sample(config);
  out.tokens_per_s = static_cast<double>(items) / simulated.seconds;
  out.classes = simulated.classes;
  out.unlisted = simulated.unlisted;
  for (size_t rank = 0; rank < out.ranks.size(); ++rank) {
    out.ranks[rank].compute_seconds = simulated.ranks[rank].compute;
    out.ranks[rank].exposed_seconds = simulated.ranks[rank].exposed;
    out.ranks[rank].bubble_seconds = simulated.ranks[rank].bubble;
  }
  return out;
}

}  // namespace phi::job
