// Trials of the passes have no dp; those of the states have rows of one sample.
#include "api/planning/part_costs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/nn/layers/sequential.h"
#include "api/simulation/record_parts.h"
#include "distributed/placement/dist_attr.h"
#include "distributed/simulator/mesh_symmetry.h"
#include "distributed/simulator/simulate.h"
#include "phi/common/errors.h"

namespace phi::planning {

struct RecordedTrial {
  std::vector<simulation::RecordedPart> parts;
  std::vector<int64_t> layers;  // of the job, by chunk
  std::vector<double> shares;   // of the parameters, by chunk
  training::StateBytes state_bytes;
};

namespace {

using distributed::JobLayout;
using distributed::MeshCoord;
using distributed::ProcessMesh;
using distributed::simulator::Computation;
using distributed::simulator::GroupCall;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using distributed::simulator::SymmetricGroups;
using distributed::simulator::WorldPrograms;
using simulation::RecordedPart;
using simulation::StepPart;

// Elements of the parameters of each chunk on this rank.
std::vector<double> parameters_of(const nn::Layer& model) {
  const auto* links = dynamic_cast<const nn::Sequential*>(&model);
  const int chunks = links ? links->num_chunks() : 1;
  std::vector<double> out(static_cast<size_t>(chunks));
  const auto add = [&](const nn::Module& module, int chunk) {
    for (const auto& [name, value] : module.named_parameters()) {
      const auto local = value.is_dist()
                             ? distributed::local_shape(value.shape(), *value.dist_attr(), 0)
                             : std::optional(value.shape());
      if (local) out[static_cast<size_t>(chunk)] += static_cast<double>(local->numel());
    }
  };
  if (chunks == 1) {
    add(model, 0);
    return out;
  }
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (const nn::Layer* link : links->chunk_links(chunk)) add(*link, chunk);
  }
  return out;
}

int64_t scaled(int64_t bytes, double factor) {
  return static_cast<int64_t>(static_cast<double>(bytes) * factor);
}

// Layers of a trial: those at the ends of the model, and one for all between them.
constexpr int64_t kTrialLayers = 3;

RecordedTrial record(const PlanSubject& subject, const JobLayout& layout, int64_t global_batch,
                     int64_t layers = kTrialLayers) {
  distributed::RecordingWorld world(/*rank=*/0, layout.ranks());
  const distributed::World::Scope scope(world);
  const Trial trial = subject.trial(layout, global_batch, layers);
  RecordedTrial out;
  out.parts = simulation::record_parts(world, trial.step);
  out.layers = trial.layers;
  out.shares = parameters_of(*trial.model);
  out.state_bytes = trial.state_bytes();
  PHI_CHECK(out.layers.size() == out.shares.size(),
            errors::InvalidArgument("a trial stands for the layers of {} chunks, and its model has "
                                    "{}.",
                                    out.layers.size(), out.shares.size()));
  double sum = 0;
  for (size_t i = 0; i < out.shares.size(); ++i)
    sum += out.shares[i] * static_cast<double>(out.layers[i]);
  for (double& share : out.shares) share /= std::max(sum, 1.0);
  return out;
}

// The program with the ranks of `to` in place of those of `from` at the same coordinates of dp and
// tp, in the first stage.
RankProgram moved(RankProgram program, const ProcessMesh& from, const ProcessMesh& to) {
  for (std::vector<int64_t>& group : program.groups) {
    for (int64_t& rank : group) rank = to.rank_at(*from.coord_of(rank));
  }
  return program;
}

// The time of a program of rank 0 that all ranks of the first stage run, if its host has issued
// everything in advance and each rank has a core of its own.
double seconds_of(const RankProgram& program, const JobLayout& layout, MachineModel machine) {
  if (program.events.empty()) return 0;
  machine.issue_us = 0;
  machine.cores = 0;
  const ProcessMesh mesh = mesh_of(layout);
  SymmetricGroups groups(program, 0, mesh);
  WorldPrograms world;
  const size_t events = world.add_events(program.events);
  const size_t nothing = world.add_events({});
  const int pp = mesh.dim_of("pp");
  const int64_t last = mesh.slice(pp, 0).highest_rank();
  for (int64_t rank = 0; rank <= last; ++rank) {
    if ((*mesh.coord_of(rank))[static_cast<size_t>(pp)] == 0) {
      world.add_rank({events, groups.of(rank, world)});
    } else {
      world.add_rank({nothing, {}});
    }
  }
  return distributed::simulator::simulate(world, machine).seconds;
}

// The calls of a program alone, each waited for.
RankProgram calls_of(const RankProgram& program) {
  RankProgram out{{}, program.groups};
  for (const auto& event : program.events) {
    if (const auto* call = std::get_if<GroupCall>(&event)) {
      GroupCall waited = *call;
      waited.is_started = false;
      out.events.emplace_back(std::move(waited));
    }
  }
  return out;
}

double issue_seconds(const RankProgram& program, const MachineModel& machine) {
  const auto is_issued = [](const auto& event) {
    return !std::holds_alternative<distributed::simulator::CallWait>(event);
  };
  return static_cast<double>(std::ranges::count_if(program.events, is_issued)) * 1e-6 *
         machine.issue_us;
}

struct UpdateSum {
  double seconds = 0;
  double issue = 0;
};

// Divides an update among the chunks of a trial, in proportion to their parameters.
std::vector<double> by_share(double all, const std::vector<double>& shares) {
  double own = 0;
  for (const double share : shares) own += share;
  std::vector<double> out;
  for (const double share : shares) out.push_back(own > 0 ? all * share / own : 0);
  return out;
}

// Divides the update of a trial of three layers among its chunks. The update of one layer is the
// difference to `of_two`, the update of a trial of two layers. The rest belongs to what comes
// before and after the layers, in proportion to the parameters there.
std::vector<double> by_layer(double all, double of_two, const std::vector<double>& shares) {
  const double layer = std::max(0.0, all - of_two);
  const double ends = std::max(0.0, all - static_cast<double>(kTrialLayers) * layer);
  const double first = std::max(0.0, shares.front() - shares[1]);
  const double both = first + std::max(0.0, shares.back() - shares[1]);
  const double of_first = both > 0 ? ends * first / both : ends / 2;
  return {layer + of_first, layer, layer + ends - of_first};
}

// The bytes of a pass of a layer, after which the rank holds `end_bytes`. A backward frees what the
// forward kept.
void add_bytes(const RecordedPart& part, int64_t end_bytes, LayerCost* cost) {
  int64_t freed = 0;
  if (part.part == StepPart::kForward) {
    cost->kept_bytes = std::max<int64_t>(0, end_bytes - part.begin_bytes);
    cost->output_bytes = part.output_bytes;
  } else {
    freed = cost->kept_bytes;
  }
  cost->passing_bytes = std::max(cost->passing_bytes, part.peak_bytes - end_bytes - freed);
}

// Operands of the deferred weight gradients: the bytes that a trial of one chunk and one
// micro-batch holds after its backward.
int64_t deferred_bytes(const std::vector<RecordedPart>& parts) {
  const auto weights = std::ranges::find(parts, StepPart::kBackwardWeight, &RecordedPart::part);
  if (weights == parts.end()) return 0;
  return std::max<int64_t>(0, weights->begin_bytes - parts.front().begin_bytes);
}

// Divides the deferred bytes of a trial among its layers: by those of a trial of two layers, if
// that is smaller.
void divide_deferred(int64_t all, int64_t of_two, std::vector<LayerCost>* layers) {
  std::vector<double> kept;
  for (const LayerCost& layer : *layers) kept.push_back(static_cast<double>(layer.kept_bytes));
  const std::vector<double> divided =
      of_two > 0 && of_two < all
          ? by_layer(static_cast<double>(all), static_cast<double>(of_two), kept)
          : by_share(static_cast<double>(all), kept);
  for (size_t i = 0; i < layers->size(); ++i)
    (*layers)[i].deferred_bytes = static_cast<int64_t>(divided[i]);
}

// The part of a backward that its deferred weight gradients take.
double weight_share_of(const std::vector<RecordedPart>& parts, const JobLayout& layout,
                       const MachineModel& machine) {
  double weights = 0;
  double all = 0;
  for (const RecordedPart& part : parts) {
    if (part.part != StepPart::kBackward && part.part != StepPart::kBackwardWeight) continue;
    const double seconds = seconds_of(part.program, layout, machine);
    all += seconds;
    if (part.part == StepPart::kBackwardWeight) weights += seconds;
  }
  return all > 0 ? weights / all : 0;
}

// A layout of the parts of another: one stage, each layer a chunk.
JobLayout trial_layout(const JobLayout& layout) {
  JobLayout out = layout;
  out.pp = 1;
  out.cut.clear();
  out.schedule = distributed::pipeline::ScheduleKind::kInterleaved;
  out.chunks = 0;
  out.micro_batches = 1;
  return out;
}

JobLayout without_dp(JobLayout layout) {
  layout.dp = 1;
  layout.zero_stage = 0;
  return layout;
}

}  // namespace

LayerCost& LayerCost::operator+=(const LayerCost& next) {
  forward += next.forward;
  backward += next.backward;
  update += next.update;
  issue_passes += next.issue_passes;
  issue_update += next.issue_update;
  share += next.share;
  kept_bytes += next.kept_bytes;
  deferred_bytes += next.deferred_bytes;
  passing_bytes = std::max(passing_bytes, next.passing_bytes);
  output_bytes = next.output_bytes;
  return *this;
}

int64_t PartCostTable::rows_of(const JobLayout& layout) const {
  return space_.global_batch / layout.dp / layout.micro_batches;
}

PartCostTable::PassKey PartCostTable::key_of(const JobLayout& layout) const {
  return {layout.tp, layout.sequence_parallel, rows_of(layout), layout.recompute};
}

const PartCostTable::Passes& PartCostTable::passes_of(const JobLayout& layout) {
  const PassKey key = key_of(layout);
  if (const auto known = passes_.find(key); known != passes_.end()) return known->second;
  ++trials_;
  const JobLayout alone = without_dp(trial_layout(layout));
  const RecordedTrial trial = record(subject_, alone, rows_of(layout));
  Passes passes;
  passes.layers = trial.layers;
  passes.chunks.resize(trial.layers.size());
  for (size_t i = 0; i < trial.parts.size(); ++i) {
    const RecordedPart& part = trial.parts[i];
    if (part.chunk < 0) continue;
    LayerCost& cost = passes.chunks[static_cast<size_t>(part.chunk)];
    const double seconds = seconds_of(part.program, alone, machine_);
    (part.part == StepPart::kForward ? cost.forward : cost.backward) += seconds;
    cost.issue_passes += issue_seconds(part.program, machine_);
    const bool is_last = i + 1 == trial.parts.size();
    add_bytes(part, is_last ? part.held_bytes : trial.parts[i + 1].begin_bytes, &cost);
  }
  for (size_t i = 0; i < passes.chunks.size(); ++i) passes.chunks[i].share = trial.shares[i];
  return passes_[key] = std::move(passes);
}

const PartCostTable::States& PartCostTable::states_of(const JobLayout& layout) {
  const auto key_of = [&](distributed::MeshOrder order) {
    return StateKey(layout.dp, layout.pp, layout.tp, layout.zero_stage, order);
  };
  const StateKey key = key_of(layout.order);
  if (const auto known = states_.find(key); known != states_.end()) return known->second;
  ++trials_;
  JobLayout alone = trial_layout(layout);
  alone.sequence_parallel = false;
  alone.recompute = distributed::Recompute::kNone;
  const RecordedTrial trial = record(subject_, alone, alone.dp);
  std::optional<RecordedTrial> smaller;
  if (trial.shares.size() == kTrialLayers) {
    ++trials_;
    smaller = record(subject_, alone, alone.dp, kTrialLayers - 1);
    if (smaller->shares.size() == kTrialLayers) smaller.reset();
  }
  // Without pp, both orders of a mesh have the same ranks. Layouts of one stage have one order.
  JobLayout ordered = layout;
  for (const auto order :
       {distributed::MeshOrder::kDpOutside, distributed::MeshOrder::kPpOutside}) {
    if (layout.pp == 1 && order != layout.order) continue;
    ordered.order = alone.order = order;
    states_[key_of(order)] = states_from(trial, smaller, alone, ordered);
  }
  return states_.at(key);
}

PartCostTable::States PartCostTable::states_from(const RecordedTrial& trial,
                                                 const std::optional<RecordedTrial>& smaller,
                                                 const JobLayout& alone,
                                                 const JobLayout& layout) const {
  States states;
  add_updates(layout, alone, trial, smaller, &states);
  states.shared.resize(trial.layers.size());
  for (const RecordedPart& part : trial.parts) {
    if (part.chunk < 0 || layout.zero_stage < 2) continue;
    RankProgram calls = calls_of(moved(part.program, mesh_of(alone), mesh_of(layout)));
    std::erase_if(calls.events, [&](const auto& event) {
      const auto& group = calls.groups[std::get<GroupCall>(event).group];
      return group.back() - group.front() < layout.tp;  // along tp: a part of the passes
    });
    states.shared[static_cast<size_t>(part.chunk)] += seconds_of(calls, layout, machine_);
  }
  double own = 0;  // the trial has fewer layers than the job
  for (const double share : trial.shares) own += share;
  const training::StateBytes& bytes = trial.state_bytes;
  states.bytes = scaled(bytes.parameters + bytes.gradients + bytes.states, 1 / own);
  states.gradient_bytes = scaled(bytes.gradients, 1 / own);
  return states;
}

void PartCostTable::add_updates(const JobLayout& layout, const JobLayout& alone,
                                const RecordedTrial& trial,
                                const std::optional<RecordedTrial>& smaller, States* states) const {
  const auto sum_of = [&](const RecordedTrial& recorded) {
    UpdateSum sum;
    for (const RecordedPart& part : recorded.parts) {
      if (part.chunk >= 0) continue;
      sum.seconds +=
          seconds_of(moved(part.program, mesh_of(alone), mesh_of(layout)), layout, machine_);
      sum.issue += issue_seconds(part.program, machine_);
    }
    return sum;
  };
  const UpdateSum all = sum_of(trial);
  std::optional<UpdateSum> of_two;
  if (smaller) of_two = sum_of(*smaller);
  states->updates = of_two ? by_layer(all.seconds, of_two->seconds, trial.shares)
                           : by_share(all.seconds, trial.shares);
  states->issues =
      of_two ? by_layer(all.issue, of_two->issue, trial.shares) : by_share(all.issue, trial.shares);
}

PartCostTable::Passes& PartCostTable::with_deferred(const JobLayout& layout) {
  passes_of(layout);
  Passes& passes = passes_.at(key_of(layout));
  if (passes.weight_share) return passes;
  JobLayout split = without_dp(trial_layout(layout));
  split.schedule = distributed::pipeline::ScheduleKind::kZeroBubbleH1;
  split.chunks = 1;
  const auto record_split = [&](int64_t layers) {
    ++trials_;
    return record(subject_, split, rows_of(layout), layers).parts;
  };
  const std::vector<RecordedPart> parts = record_split(kTrialLayers);
  passes.weight_share = weight_share_of(parts, split, machine_);
  int64_t of_two = 0;
  if (passes.chunks.size() == kTrialLayers) of_two = deferred_bytes(record_split(kTrialLayers - 1));
  divide_deferred(deferred_bytes(parts), of_two, &passes.chunks);
  return passes;
}

PartCosts PartCostTable::passes_alone(const JobLayout& layout) {
  const bool is_deferred = name_of(layout.schedule).starts_with("zb_");
  const Passes& passes = is_deferred ? with_deferred(layout) : passes_of(layout);
  PartCosts out;
  if (is_deferred) out.weight_share = *passes.weight_share;
  for (size_t i = 0; i < passes.chunks.size(); ++i)
    out.layers.insert(out.layers.end(), static_cast<size_t>(passes.layers[i]), passes.chunks[i]);
  out.cores = machine_.cores;
  return out;
}

PartCosts PartCostTable::of(const JobLayout& layout) {
  PartCosts out = passes_alone(layout);
  const States& states = states_of(layout);
  const Passes& passes = passes_of(layout);
  auto cost = out.layers.begin();
  for (size_t i = 0; i < passes.chunks.size(); ++i) {
    for (int64_t n = 0; n < passes.layers[i]; ++n, ++cost) {
      cost->backward += states.shared[i];
      cost->update = states.updates[i];
      cost->issue_update = states.issues[i];
    }
  }
  out.state_bytes = states.bytes;
  out.gradient_bytes = states.gradient_bytes;
  return out;
}

}  // namespace phi::planning
