// Records the steps of each rank, and simulates the last ones together.
#include "tools/job/predict_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/simulation/record_step.h"
#include "api/training/trainer.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/simulator/simulate.h"
#include "tools/cli/command_line.h"
#include "tools/job/build.h"
#include "tools/job/run_flags.h"

namespace phi::job {
namespace {

using distributed::RecordingWorld;
using distributed::World;
using distributed::simulator::Collectives;
using distributed::simulator::Computation;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using simulation::Prediction;
using simulation::RankPrediction;

struct RecordedRank {
  RankProgram step;     // the last one that was recorded
  RankPrediction held;  // without times
};

// Records a rank of a job with the inputs of `setup`.
RecordedRank record(const JobConfig& config, const Setup& setup, int64_t steps, int64_t rank) {
  RecordingWorld world(rank, config.mesh.num_ranks());
  const World::Scope scope(world);
  world.rank_context().set_deferred_transfer(FLAGS_deferred_transfer);
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
  return recorded;
}

void check_device(const JobConfig& config, const MachineModel& machine) {
  if (config.place != machine.device) {
    throw config.wrong({"place"},
                       fmt::format("the job runs on place {}, and {} is a machine of device {}; "
                                   "use a machine of the job's kind.",
                                   config.place, machine.file, machine.device));
  }
  const bool uses_nccl = machine.collectives == Collectives::kNccl;
  if (uses_nccl && config.run.messages == "host") {
    throw config.wrong(
        {"run.messages"},
        fmt::format("messages go through the host, and {} has the times of NCCL; "
                    "remove the key, or set `collectives: direct` and measured links.",
                    machine.file));
  }
  if (!machine.families.contains(config.run.dtype)) {
    std::vector<std::string_view> known;
    for (const auto& entry : machine.families) known.push_back(name_of(entry.first));
    throw config.wrong(
        {"run.dtype"},
        fmt::format("{} has rates of {} only; calibrate with --dtypes={},{}.", machine.file,
                    fmt::join(known, ", "), fmt::join(known, ","), name_of(config.run.dtype)));
  }
  if (config.run.tf32) {
    throw config.wrong({"run.tf32"},
                       fmt::format("{} has no rates of TF32; remove the key.", machine.file));
  }
}

// Model flops divided by those that the ranks could have computed at their peak; none without one.
std::optional<double> utilisation(const Setup& setup, const MachineModel& machine, double seconds) {
  const auto peak = machine.peak_TFLOPS.find(setup.config.run.dtype);
  if (peak == machine.peak_TFLOPS.end()) return std::nullopt;
  const auto ranks = static_cast<double>(setup.config.mesh.num_ranks());
  return model_flops(setup) / (seconds * ranks * peak->second * 1e12);
}

}  // namespace

double model_flops(const Setup& setup) {
  JobConfig config = setup.config;
  config.mesh = {.shape = {1}, .dims = {"dp"}};
  config.run.recompute = Recompute::kNone;
  config.run.micro_batches = 1;
  config.run.capture = false;
  config.memory = {};
  double flops = 0;
  for (const auto& event : record(config, setup, /*steps=*/1, /*rank=*/0).step.events) {
    if (const auto* launch = std::get_if<Computation>(&event)) flops += launch->flops;
  }
  return flops;
}

Prediction predict_job(const Setup& setup, int64_t steps, const MachineModel& given) {
  const JobConfig& config = setup.config;
  check_device(config, given);
  MachineModel machine = given;
  if (machine.collectives == Collectives::kNccl && config.run.reduction == "exact")
    machine.collectives = Collectives::kNcclExact;
  std::vector<RankProgram> programs;
  Prediction out;
  for (int64_t rank = 0; rank < config.mesh.num_ranks(); ++rank) {
    RecordedRank recorded = record(config, setup, steps, rank);
    programs.push_back(std::move(recorded.step));
    out.ranks.push_back(recorded.held);
  }
  const auto simulated = distributed::simulator::simulate(programs, machine);
  out.step_seconds = simulated.seconds;
  const int64_t items = config.run.global_batch * items_per_sample(config);
  out.tokens_per_s = static_cast<double>(items) / simulated.seconds;
  out.classes = simulated.classes;
  out.unlisted = simulated.unlisted;
  out.device_bytes = machine.tensor_memory_bytes();
  out.mfu = utilisation(setup, machine, simulated.seconds);
  for (size_t rank = 0; rank < out.ranks.size(); ++rank) {
    out.ranks[rank].compute_seconds = simulated.ranks[rank].compute;
    out.ranks[rank].exposed_seconds = simulated.ranks[rank].exposed;
    out.ranks[rank].bubble_seconds = simulated.ranks[rank].bubble;
  }
  return out;
}

}  // namespace phi::job
