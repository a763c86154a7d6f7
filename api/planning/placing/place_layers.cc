// Sets the choices of a captured graph, solves it, and writes the solution as a layout.
#include "api/planning/placing/place_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/nn/layout/resolved_layout.h"
#include "api/planning/placing/dry_costs.h"
#include "distributed/planner/place_tensors.h"
#include "phi/common/errors.h"

namespace phi::planning {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;
using distributed::planner::Cost;
using distributed::planner::kAbsent;
using distributed::planner::OpGraph;
using distributed::planner::PlacedGraph;
using distributed::planner::TensorId;
using nn::AxisPlacements;

// Whether each part of the tensor has the same shape.
bool divides(const Dims& shape, const ProcessMesh& mesh, const std::vector<Placement>& placements) {
  std::vector<int64_t> left(shape.begin(), shape.end());
  for (int m = 0; m < mesh.ndim(); ++m) {
    const Placement& placement = placements[static_cast<size_t>(m)];
    if (!placement.is_shard()) continue;
    int64_t& extent = left[static_cast<size_t>(placement.tensor_dim())];
    if (extent % mesh.dim_size(m) != 0) return false;
    extent /= mesh.dim_size(m);
  }
  return true;
}

// All placements without partial values that divide the tensor evenly. `fixed` are those along some
// mesh dims, which need not divide it.
std::vector<AttrPtr> choices_of(const Dims& shape, const ProcessMesh& mesh,
                                const AxisPlacements& fixed) {
  std::vector<std::vector<Placement>> all = {{}};
  for (int m = 0; m < mesh.ndim(); ++m) {
    const auto pinned = std::ranges::find_if(fixed, [&](const auto& entry) {
      return entry.first == mesh.dim_names()[static_cast<size_t>(m)];
    });
    std::vector<Placement> here = {Replicate()};
    if (pinned != fixed.end()) {
      here = {pinned->second};
    } else {
      for (int d = 0; d < shape.ndim(); ++d) here.push_back(Shard(d));
    }
    std::vector<std::vector<Placement>> longer;
    for (const auto& placements : all) {
      for (const Placement& placement : here) {
        longer.push_back(placements);
        longer.back().push_back(placement);
      }
    }
    all = std::move(longer);
  }
  std::vector<AttrPtr> choices;
  for (const auto& placements : all) {
    if (all.size() == 1 || divides(shape, mesh, placements))
      choices.push_back(TensorDistAttr::get(mesh, placements));
  }
  return choices;
}

nn::Layout::Kind kind_of(nn::ActivationSlot activation) {
  constexpr std::array kinds = {nn::Layout::Kind::kInputs, nn::Layout::Kind::kOutputs,
                                nn::Layout::Kind::kCaches};
  return kinds[static_cast<size_t>(activation)];
}

class LayerPlacer {
 public:
  LayerPlacer(const nn::Module& model, ModelGraph captured, const ProcessMesh& mesh,
              const PlaceLayersOptions& options)
      : named_(model.named_parameters()),
        captured_(std::move(captured)),
        mesh_(mesh),
        options_(options),
        pins_(options.pins.of(model)),
        resolved_(model, pins_) {
    options.pins.check_dims(mesh);
    set_choices();
  }

  PlacedLayers solve(DryCosts& costs) const {
    const PlacedGraph placed = distributed::planner::place_tensors(captured_.graph, costs);
    PlacedLayers out{pins_, static_cast<double>(placed.cost.picoseconds) * 1e-12, {}};
    for (size_t p = 0; p < named_.size(); ++p) add_parameter(p, placed, &out);
    for (size_t s = 0; s < captured_.points.size(); ++s) {
      if (placed.slots[s] && !captured_.points[s].fixed) add_activation(s, placed, &out);
    }
    return out;
  }

  const std::vector<CallKind>& kinds() const { return captured_.kinds; }

 private:
  void set_choices() {
    OpGraph& graph = captured_.graph;
    std::vector<bool> is_made(graph.tensors.size());
    for (const auto& step : graph.steps) {
      if (const auto* call = std::get_if<OpGraph::OpCall>(&step)) {
        for (const TensorId t : call->outputs) {
          if (t != kAbsent) is_made[static_cast<size_t>(t)] = true;
        }
      } else {
        is_made[static_cast<size_t>(std::get<OpGraph::Move>(step).to)] = true;
      }
    }
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      if (!is_made[t]) graph.tensors[t].choices = {TensorDistAttr::replicated(mesh_)};
    }
    for (const TensorId t : captured_.inputs) {
      if (t != kAbsent) graph.tensors[static_cast<size_t>(t)].choices = {batch_attr()};
    }
    for (size_t p = 0; p < named_.size(); ++p) {
      if (captured_.parameters[p] == kAbsent) continue;
      OpGraph::Tensor& tensor = graph.tensors[static_cast<size_t>(captured_.parameters[p])];
      tensor.choices = choices_of(tensor.shape, mesh_, pins_of_parameter(p));
      tensor.copies = options_.parameter_copies;
      tensor.picoseconds_per_byte = options_.seconds_per_byte * 1e12;
    }
    for (size_t s = 0; s < captured_.points.size(); ++s) set_slot(s);
  }

  AxisPlacements pins_of_parameter(size_t p) const {
    return resolved_.of_parameter(named_[p].first);
  }

  AttrPtr batch_attr() const {
    std::vector<Placement> placements(static_cast<size_t>(mesh_.ndim()));
    for (const auto& [dim, placement] : pins_.batches())
      placements[static_cast<size_t>(mesh_.dim_of(dim))] = placement;
    return TensorDistAttr::get(mesh_, placements);
  }

  // A pinned activation has all of its placements fixed.
  void set_slot(size_t s) {
    const ModelGraph::ActivationPoint& point = captured_.points[s];
    OpGraph::Slot& slot = captured_.graph.slots[s];
    if (point.fixed) {
      PHI_CHECK(
          point.fixed->mesh() == mesh_,
          errors::InvalidArgument("the model reshards an activation to {}, and the plan is for "
                                  "{}.",
                                  point.fixed->mesh().to_string(), mesh_.to_string()));
      slot.choices = {point.fixed};
      return;
    }
    if (const AxisPlacements* pin = pin_of_slot(s)) {
      AxisPlacements whole;
      for (const std::string& dim : mesh_.dim_names()) whole.emplace_back(dim, Replicate());
      nn::merge_placements(*pin, &whole);
      slot.choices = choices_of(point.shape, mesh_, whole);
      return;
    }
    if (options_.moves_activations) slot.choices = choices_of(point.shape, mesh_, {});
    slot.choices.insert(slot.choices.begin(), nullptr);
  }
  const AxisPlacements* pin_of_slot(size_t s) const {
    const ModelGraph::ActivationPoint& point = captured_.points[s];
    return resolved_.of_module(kind_of(point.activation), point.path);
  }

  void add_parameter(size_t p, const PlacedGraph& placed, PlacedLayers* out) const {
    Reason reason{.name = named_[p].first};
    const TensorId t = captured_.parameters[p];
    if (t == kAbsent) {
      reason.attr = TensorDistAttr::replicated(mesh_);
      reason.decided = Decided::kUnused;
    } else {
      const OpGraph::Tensor& tensor = captured_.graph.tensors[static_cast<size_t>(t)];
      reason.attr = placed.tensors[static_cast<size_t>(t)].attr;
      set_next(tensor.choices, placed.cost_by_tensor_choice[static_cast<size_t>(t)], placed.cost,
               &reason);
      if (reason.next_attr == nullptr) {
        reason.decided = !pins_of_parameter(p).empty() ? Decided::kPin
                         : tensor.choices.size() == 1  ? Decided::kDivisibility
                                                       : Decided::kNoRule;
      }
      if (!reason.attr->is_replicated())
        out->layout.parameters(reason.name, axis_placements_of(reason.attr));
    }
    const Dims& shape = named_[p].second.shape();
    reason.bytes = local_box(shape, *reason.attr, {}).size.numel() *
                   static_cast<int64_t>(size_of(named_[p].second.dtype()));
    out->reasons.push_back(std::move(reason));
  }

  void add_activation(size_t s, const PlacedGraph& placed, PlacedLayers* out) const {
    const ModelGraph::ActivationPoint& point = captured_.points[s];
    Reason reason{.kind = kind_of(point.activation), .name = point.path};
    reason.attr = placed.slots[s];
    const std::vector<AttrPtr>& choices = captured_.graph.slots[s].choices;
    if (!set_next(choices, placed.cost_by_slot_choice[s], placed.cost, &reason))
      reason.decided = pin_of_slot(s) ? Decided::kPin : Decided::kNoRule;
    const AxisPlacements axis_placements = axis_placements_of(reason.attr);
    if (reason.kind == nn::Layout::Kind::kInputs) {
      out->layout.inputs(reason.name, axis_placements);
    } else {
      out->layout.outputs(reason.name, axis_placements);
    }
    out->reasons.push_back(std::move(reason));
  }

  // Finds the best other choice; false: there is none.
  static bool set_next(const std::vector<AttrPtr>& choices,
                       const std::vector<std::optional<Cost>>& costs, const Cost& best,
                       Reason* reason) {
    std::optional<size_t> next;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] == reason->attr || !costs[i]) continue;
      if (!next || *costs[i] < *costs[*next]) next = i;
    }
    if (!next) return false;
    const Cost more = *costs[*next] - best;
    reason->next_attr = choices[*next];
    reason->next_seconds = static_cast<double>(more.picoseconds) * 1e-12;
    reason->next_bytes = more.bytes;
    return true;
  }

  nn::NamedTensors named_;
  ModelGraph captured_;
  const ProcessMesh& mesh_;
  const PlaceLayersOptions& options_;
  nn::Layout pins_;
  nn::ResolvedLayout resolved_;
};

}  // namespace

AxisPlacements axis_placements_of(const TensorDistAttr* attr) {
  AxisPlacements out;
  for (int m = 0; m < attr->mesh().ndim(); ++m)
    out.emplace_back(attr->mesh().dim_names()[static_cast<size_t>(m)], attr->placement(m));
  return out;
}

std::string_view name_of(Decided decided) {
  constexpr std::array<std::string_view, 5> names = {"cost", "pin", "divisibility", "no rule",
                                                     "not used"};
  return names[static_cast<size_t>(decided)];
}

std::string text_of(const TensorDistAttr* attr) {
  if (attr == nullptr) return "as it is";
  std::string out;
  for (const auto& [dim, placement] : axis_placements_of(attr))
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", dim, placement.to_string());
  return "{" + out + "}";
}

double update_seconds_per_byte(const distributed::simulator::MachineModel& machine,
                               int64_t num_ranks) {
  // Reads a weight, its gradient and two states, and writes all but the gradient.
  constexpr double kTensors = 7, kBytes = 1 << 20;
  const distributed::simulator::Computation update{
      .op = "scaled_adamw_", .dtype = DataType::FLOAT32, .bytes = kTensors * kBytes};
  const double seconds = machine.time_of(update).seconds - machine.launch_overhead_us * 1e-6;
  return seconds / kBytes * machine.slowdown(num_ranks);
}

std::string Reason::to_string() const {
  const std::string what =
      kind == nn::Layout::Kind::kParameters ? "" : fmt::format("{} of ", nn::name_of(kind));
  const std::string placed =
      fmt::format("{}{} {}", what, name.empty() ? "(model)" : name, text_of(attr));
  if (decided != Decided::kCost) return fmt::format("{}: {}", placed, planning::name_of(decided));
  return fmt::format("{}: next best {}, {:+.1f} us, {:+.1f} MiB", placed, text_of(next_attr),
                     next_seconds * 1e6, static_cast<double>(next_bytes) / (1 << 20));
}

PlacedLayers place_layers(const nn::Module& model, const LossFunction& loss,
                          const TensorList& inputs, const ProcessMesh& mesh,
                          const distributed::simulator::MachineModel& machine,
                          const PlaceLayersOptions& options) {
  const LayerPlacer placer(model, capture_graph(model, loss, inputs, mesh), mesh, options);
  const int64_t num_ranks = options.num_ranks == 0 ? mesh.size() : options.num_ranks;
  DryCosts costs(placer.kinds(), mesh, num_ranks, machine);
  try {
    return placer.solve(costs);
  } catch (Error& error) {
    if (!costs.refusal().empty()) error.note("the last call that was refused: " + costs.refusal());
    throw;
  }
}

}  // namespace phi::planning
