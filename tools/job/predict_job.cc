// Records ranks of a job and simulates them.
#include "tools/job/predict_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "tools/job/build.h"

namespace phi::job {
namespace {

using distributed::ProcessMesh;
using distributed::simulator::Collectives;
using distributed::simulator::Computation;
using distributed::simulator::MachineModel;
using distributed::simulator::WorldPrograms;
using Events = WorldPrograms::Events;

}  // namespace

void check_fits(const JobConfig& config, const MachineModel& machine) {
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

namespace {

// The machine as the job uses it.
MachineModel machine_for(const JobConfig& config, MachineModel machine) {
  check_fits(config, machine);
  if (machine.collectives == Collectives::kNccl && config.run.reduction == "exact")
    machine.collectives = Collectives::kNcclExact;
  return machine;
}

double flops_of(const Events& events) {
  double flops = 0;
  for (const auto& event : events) {
    if (const auto* launch = std::get_if<Computation>(&event)) flops += launch->flops;
  }
  return flops;
}

// Of the launches of all ranks.
double hardware_flops(const WorldPrograms& world) {
  std::vector<double> by_events;
  for (size_t i = 0; i < world.num_events(); ++i) by_events.push_back(flops_of(world.events(i)));
  double flops = 0;
  for (size_t rank = 0; rank < world.num_ranks(); ++rank)
    flops += by_events[world.rank(rank).events];
  return flops;
}

}  // namespace

std::optional<double> model_flops(const Setup& setup, const MachineModel& machine) {
  if (!machine.peak_TFLOPS.contains(setup.config.run.dtype)) return std::nullopt;
  JobConfig config = setup.config;
  config.mesh = {.shape = {1}, .dims = {"dp"}};
  config.run.recompute = Recompute::kNone;
  config.run.micro_batches = 1;
  config.run.capture = false;
  config.memory = {};
  return flops_of(RankRecords(setup, /*steps=*/1).of(config, /*rank=*/0).program.events);
}

PredictedJob predict_config(const JobConfig& config, RankRecords& records,
                            const MachineModel& given, std::optional<double> model_flops,
                            const distributed::simulator::SimulateOptions& options) {
  const MachineModel machine = machine_for(config, given);
  const ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  PredictedJob out;
  out.world =
      simulation::record_world(mesh, [&](int64_t rank) { return records.of(config, rank); });
  out.step = simulation::predict(out.world, machine,
                                 config.run.global_batch * items_per_sample(config), options);
  if (model_flops) {
    const double per_second =
        static_cast<double>(mesh.size()) * machine.peak_TFLOPS.at(config.run.dtype) * 1e12;
    out.step.prediction.at_peak =
        simulation::TimeAtPeak{.model_seconds = *model_flops / per_second,
                               .hardware_seconds = hardware_flops(out.world.programs) / per_second};
  }
  return out;
}

PredictedJob predict_job(const Setup& setup, int64_t steps, const MachineModel& machine,
                         const distributed::simulator::SimulateOptions& options) {
  check_fits(setup.config, machine);
  RankRecords records(setup, steps);
  return predict_config(setup.config, records, machine, model_flops(setup, machine), options);
}

}  // namespace phi::job
