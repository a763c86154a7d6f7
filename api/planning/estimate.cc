// Sums the layers of each virtual stage.
#include "api/planning/estimate.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "api/simulation/composed_step.h"
#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/pipeline/schedules/peak_memory.h"
#include "distributed/placement/split.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::pipeline::ScheduleKind;
using distributed::simulator::Computation;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using simulation::Body;
using simulation::RankPrograms;

// The layers of a virtual stage together.
std::vector<LayerCost> virtual_stages(const JobLayout& layout, const PartCosts& costs) {
  const int64_t count = layout.pp * layout.chunks;
  const auto layers = static_cast<int64_t>(costs.layers.size());
  std::vector<LayerCost> out(static_cast<size_t>(count));
  size_t layer = 0;
  for (int64_t c = 0; c < count; ++c) {
    const int64_t own = layout.cut.empty() ? distributed::split_range(layers, count, c).size
                                           : layout.cut[static_cast<size_t>(c)];
    LayerCost& sum = out[static_cast<size_t>(c)];
    for (int64_t i = 0; i < own; ++i, ++layer) {
      const LayerCost& one = costs.layers[layer];
      sum.forward += one.forward;
      sum.backward += one.backward;
      sum.update += one.update;
      sum.issue_passes += one.issue_passes;
      sum.issue_update += one.issue_update;
      sum.share += one.share;
      sum.kept_bytes += one.kept_bytes;
      sum.output_bytes = one.output_bytes;
    }
  }
  return out;
}

RankPrograms lasting(double seconds) {
  if (seconds <= 0) return {};
  RankProgram program;
  program.events.emplace_back(
      Computation{.op = "stage", .dtype = DataType::FLOAT32, .seconds = seconds});
  return {std::move(program)};
}

// Ranks of one unit of the last level but one: those of stages that are as far apart are in
// different units of all levels.
int64_t largest_unit(const MachineModel& machine) {
  int64_t size = 1;
  for (const auto& link : machine.links) size = std::max(size, link.size);
  return size;
}

}  // namespace

int64_t held_micro_batches(const JobLayout& layout, int64_t stage) {
  const int64_t m = layout.micro_batches;
  const distributed::pipeline::Schedule sizes{.kind = "",
                                              .stages = static_cast<int>(layout.pp),
                                              .chunks = static_cast<int>(layout.chunks),
                                              .micro_batches = static_cast<int>(m),
                                              .actions = {}};
  const auto bound = memory_bound(layout.schedule, sizes, static_cast<int>(stage));
  return (bound.total + layout.chunks - 1) / layout.chunks;
}

Estimate lower_bound(const JobLayout& layout, const PartCosts& costs) {
  const std::vector<LayerCost> parts = virtual_stages(layout, costs);
  const auto m = static_cast<double>(layout.micro_batches);
  Estimate out;
  double through = 0;  // a micro-batch through all virtual stages
  double work = 0;     // of all stages
  for (const LayerCost& part : parts) through += part.forward + part.backward;
  for (int64_t stage = 0; stage < layout.pp; ++stage) {
    double busy = 0;
    double update = 0;
    double issue = 0;
    double share = 0;
    int64_t kept = 0;
    for (int64_t c = stage; c < layout.pp * layout.chunks; c += layout.pp) {
      const LayerCost& part = parts[static_cast<size_t>(c)];
      busy += part.forward + part.backward;
      update += part.update;
      issue += m * part.issue_passes + part.issue_update;
      share += part.share;
      kept += part.kept_bytes;
    }
    // While a micro-batch is on the other stages, this one is idle at least once, unless the
    // schedule has deferred weight gradients for it to compute (zero bubble).
    const double away = (through - busy) / static_cast<double>(layout.chunks);
    const bool fills = costs.weight_share > 0;
    work += m * busy + update;
    out.issue = std::max(out.issue, issue);
    out.seconds = std::max({out.seconds, issue, m * busy + update + (fills ? 0 : away)});
    const auto states = static_cast<int64_t>(static_cast<double>(costs.state_bytes) * share);
    const int64_t bytes = states + kept * held_micro_batches(layout, stage) + costs.passing_bytes;
    if (bytes <= out.bytes) continue;
    out.bytes = bytes;
    out.fullest_stage = stage;
  }
  if (costs.cores > 0)
    out.seconds =
        std::max(out.seconds, work * static_cast<double>(layout.dp * layout.tp) / costs.cores);
  return out;
}

Estimate estimate(const JobLayout& layout, const PartCosts& costs, const MachineModel& machine) {
  Estimate out = lower_bound(layout, costs);
  if (layout.pp == 1) return out;
  if (layout.pp == 2 && layout.chunks > 1) {
    // ComposedStep cannot have activations and gradients that pass the same way. Messages and
    // warm-up take as much longer than the bound as those of 1F1B do.
    JobLayout plain = layout;
    plain.schedule = ScheduleKind::k1F1B;
    plain.chunks = 1;
    out.seconds += estimate(plain, costs, machine).seconds - lower_bound(plain, costs).seconds;
    return out;
  }
  MachineModel links = machine;
  links.issue_us = 0;
  const std::vector<LayerCost> parts = virtual_stages(layout, costs);
  simulation::ComposedStep step;
  step.schedule = distributed::pipeline::make_schedule(layout.schedule, static_cast<int>(layout.pp),
                                                       static_cast<int>(layout.micro_batches),
                                                       static_cast<int>(layout.chunks));
  step.ranks_per_stage = std::min(layout.ranks_between_stages(), largest_unit(machine));
  // Those that a rank of the step stands for need them too.
  links.cores *=
      static_cast<double>(step.ranks_per_stage) / static_cast<double>(layout.dp * layout.tp);
  std::vector<double> updates(static_cast<size_t>(layout.pp));
  for (size_t i = 0; i < parts.size(); ++i) {
    const LayerCost& part = parts[i];
    const auto body = std::make_shared<Body>(Body{lasting(part.forward), lasting(part.backward),
                                                  lasting(part.backward * costs.weight_share)});
    step.parts.push_back({{body, 1}});
    updates[i % updates.size()] += part.update;
  }
  // All parts send as much, but for the last one, whose output is the loss.
  step.bytes_between = parts.front().output_bytes;
  for (const double seconds : updates) step.updates.push_back(lasting(seconds));
  simulation::BodyTimes times(links);
  out.seconds = std::max(out.issue, simulation::simulate(step, times));
  return out;
}

}  // namespace phi::planning
