// Bounds from sums of layers, and a schedule that is played with them.
#include "api/planning/estimate.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "api/planning/stage_bytes.h"
#include "api/simulation/composed_step.h"
#include "distributed/pipeline/schedules/make_schedule.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::pipeline::ScheduleKind;
using distributed::simulator::Computation;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using simulation::Body;
using simulation::RankPrograms;

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

Estimate lower_bound(const JobLayout& layout, const PartCosts& costs) {
  const std::vector<LayerCost> parts = chunks_of(layout, costs);
  const auto m = static_cast<double>(layout.micro_batches);
  Estimate out;
  double through = 0;  // a micro-batch through all virtual stages
  double work = 0;     // of all stages
  for (const LayerCost& part : parts) through += part.forward + part.backward;
  for (int64_t stage = 0; stage < layout.pp; ++stage) {
    double busy = 0;
    double update = 0;
    double issue = 0;
    for (int64_t c = stage; c < layout.pp * layout.chunks; c += layout.pp) {
      const LayerCost& part = parts[static_cast<size_t>(c)];
      busy += part.forward + part.backward;
      update += part.update;
      issue += m * part.issue_passes + part.issue_update;
    }
    // While a micro-batch is on the other stages, this one is idle at least once, unless the
    // schedule has deferred weight gradients for it to compute (zero bubble).
    const double away = (through - busy) / static_cast<double>(layout.chunks);
    const bool fills = costs.weight_share > 0;
    work += m * busy + update;
    out.issue = std::max(out.issue, issue);
    out.seconds = std::max({out.seconds, issue, m * busy + update + (fills ? 0 : away)});
    const int64_t bytes = stage_bytes(layout, costs, parts, stage);
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
  const std::vector<LayerCost> parts = chunks_of(layout, costs);
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
