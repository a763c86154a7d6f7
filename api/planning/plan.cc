// Bounds, estimates, and whole simulations, each of fewer layouts than the one before.
#include "api/planning/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "api/planning/mesh_orders.h"
#include "api/planning/stage_bytes.h"
#include "distributed/placement/split.h"
#include "distributed/planner/cut_layers.h"
#include "phi/common/errors.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::LayersToCut;
using distributed::LayoutSpace;
using distributed::MeshOrder;
using distributed::pipeline::ScheduleKind;
using distributed::simulator::MachineModel;

// A layout is left out if its estimated bytes exceed the memory by this factor.
constexpr double kBytesMargin = 1.2;
// The factor for estimates that are corrected by an exact number of the same schedule.
constexpr double kCorrectedMargin = 1.1;
// The most layouts that are simulated for little memory instead of for speed.
constexpr size_t kMostSmallest = 16;
// Layouts that are kept for each finalist: estimates may order them wrongly.
constexpr size_t kPlayedPerFinalist = 3;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void add_refusal(const std::string& reason, const JobLayout& layout,
                 std::vector<RefusedLayouts>* refused) {
  const auto known = std::ranges::find(*refused, reason, &RefusedLayouts::reason);
  if (known == refused->end()) {
    refused->push_back({reason, 1, layout});
  } else {
    ++known->count;
  }
}

// The memory of a stage bounds its only chunk. Of several, only the sum would be bounded, and the
// lower bound of the cut says whether it fits.
LayersToCut layers_to_cut(const JobLayout& layout, const PartCosts& costs, int64_t room) {
  LayersToCut out;
  for (const LayerCost& layer : costs.layers) out.costs.push_back(layer.forward + layer.backward);
  if (layout.chunks > 1) return out;
  LayerCost all;
  for (const LayerCost& layer : costs.layers) all += layer;
  out.room = room - all.passing_bytes;
  for (const LayerCost& layer : costs.layers) {
    out.states.push_back(
        static_cast<int64_t>(layer.share * static_cast<double>(costs.state_bytes)));
    out.bytes.push_back(layer.kept_bytes);
    out.deferred_bytes.push_back(layer.deferred_bytes);
  }
  for (int64_t stage = 0; stage < layout.pp; ++stage) {
    const HeldMicroBatches held = held_micro_batches(layout, stage, all);
    out.held.push_back(held.kept);
    out.deferred.push_back(held.deferred);
  }
  return out;
}

std::vector<int64_t> even_cut(int64_t layers, int64_t stages) {
  std::vector<int64_t> out;
  for (int64_t stage = 0; stage < stages; ++stage)
    out.push_back(distributed::split_range(layers, stages, stage).size);
  return out;
}

// The layout with the best cut of its layers, if that is not the even one.
std::optional<JobLayout> with_best_cut(const JobLayout& layout, const PartCosts& costs,
                                       int64_t room) {
  if (layout.pp == 1) return std::nullopt;
  const LayersToCut layers = layers_to_cut(layout, costs, room);
  const int64_t parts = layout.pp * layout.chunks;
  JobLayout out = layout;
  out.cut = cut_layers(layers, parts).layers;
  if (out.cut.empty() || out.cut == even_cut(std::ssize(layers.costs), parts)) return std::nullopt;
  return out;
}

JobLayout without_search(JobLayout layout) {
  layout.has_searched_placements = false;
  return layout;
}

bool differ_by_order(const JobLayout& a, JobLayout b) {
  b.order = other_order(b.order);
  return a == b;
}

// Fastest first. Of equally fast ones, the one that needs less memory, then less of ZeRO.
void sort_by_seconds(std::vector<PlannedLayout>* plans) {
  std::ranges::stable_sort(*plans, {}, [](const PlannedLayout& plan) {
    return std::tuple(plan.nanoseconds(), plan.peak_bytes, plan.layout.zero_stage);
  });
}

}  // namespace

int64_t PlannedLayout::nanoseconds() const { return std::llround(1e9 * predicted->step_seconds); }

double Planner::seconds_of(const Candidate& candidate) { return candidate.estimate.seconds; }

Planner::Planner(const PlanSubject& subject, const MachineModel& machine, PlannerOptions options)
    : subject_(subject),
      machine_(machine),
      options_(options),
      room_(options.memory_bytes > 0 ? options.memory_bytes : machine.tensor_memory_bytes()),
      costs_(subject, machine),
      started_(now()) {
  if (room_ == 0) room_ = std::numeric_limits<int64_t>::max();
}

PlanResult Planner::plan() {
  PlanResult result = plan(space());
  for (const RuleOfThumb& rule : rules_of_thumb()) {
    if (rule.planned) add_plan(*rule.planned, &result.plans);
  }
  sort_by_seconds(&result.plans);
  if (result.plans.size() > options_.finalists) result.plans.resize(options_.finalists);
  return result;
}

bool Planner::has_one_link() const {
  const auto& links = machine_.links;
  return links.size() < 2 || subject_.space().devices <= links.front().size;
}

// If all links are alike, so are the orders of the mesh.
LayoutSpace Planner::space() const {
  LayoutSpace out = subject_.space();
  if (out.orders.empty() && has_one_link()) out.orders = {MeshOrder::kDpOutside};
  return out;
}

// Whether the space also has the layout in the order of the mesh that is listed first, and both are
// equal.
bool Planner::repeats_other_order(const JobLayout& layout, const LayoutSpace& space) const {
  const auto& orders = space.orders;
  return layout.order != MeshOrder::kDpOutside &&
         (orders.empty() || std::ranges::find(orders, MeshOrder::kDpOutside) != orders.end()) &&
         has_equal_orders(layout, machine_);
}

PlanResult Planner::plan(const LayoutSpace& space) {
  PlanResult result;
  const std::vector<Candidate> candidates = candidates_in(space, &result);
  // Layouts that turn out to be too large or impossible make room for others.
  const auto tried = [&] { return known_.size() + failed_.size(); };
  size_t before = 0;
  do {
    before = tried();
    result.plans.clear();
    result.simulated = 0;
    simulate_first(best_of(candidates, &result), &result);
  } while (tried() != before && result.plans.size() < options_.finalists && !is_late());
  if (result.plans.empty()) simulate_smallest(candidates, &result);
  sort_by_seconds(&result.plans);
  std::ranges::stable_sort(result.too_large, {}, &TooLargeLayout::bytes);
  std::ranges::stable_sort(result.refused, std::ranges::greater(), &RefusedLayouts::count);
  result.trials = costs_.trials();
  return result;
}

// Simulates layouts as a whole, until as many as wanted fit.
void Planner::simulate_first(const std::vector<Candidate>& candidates, PlanResult* result) {
  for (const Candidate& candidate : candidates) {
    if (result->plans.size() == options_.finalists) break;
    if (is_late() && !result->plans.empty()) {
      result->is_complete = false;
      break;
    }
    if (!may_fit(candidate)) continue;
    const std::optional<int64_t> bytes = simulate(candidate, result);
    if (!bytes) continue;
    const double correction =
        static_cast<double>(*bytes) / static_cast<double>(candidate.estimate.bytes);
    const auto known = corrections_.try_emplace(candidate.layout.schedule, correction).first;
    known->second = std::min(known->second, correction);
  }
}

// Simulates layouts in the order of their bytes until one fits: one at least, if it is late.
void Planner::simulate_smallest(const std::vector<Candidate>& candidates, PlanResult* result) {
  std::vector<Candidate> smallest;
  for (const Candidate& candidate : candidates) {
    if (is_late() && !smallest.empty()) {
      result->is_complete = false;
      break;
    }
    if (is_ruled_out(candidate.layout)) continue;
    if (const auto costs = costs_of(candidate.layout, result))
      smallest.push_back({candidate.layout, lower_bound(candidate.layout, *costs)});
  }
  std::ranges::stable_sort(smallest, {}, [](const Candidate& each) { return each.estimate.bytes; });
  for (size_t i = 0; i < std::min(smallest.size(), kMostSmallest); ++i) {
    if (!result->plans.empty()) break;
    if (i > 0 && is_late()) {
      result->is_complete = false;
      break;
    }
    simulate(smallest[i], result);
  }
}

// Returns the bytes of the fullest rank; nothing for a layout whose simulation fails.
std::optional<int64_t> Planner::simulate(const Candidate& candidate, PlanResult* result) {
  const JobLayout& layout = candidate.layout;
  try {
    const auto known = simulated(layout, candidate.estimate);
    if (const auto* large = std::get_if<TooLargeLayout>(&known)) {
      result->too_large.push_back(*large);
      return large->bytes;
    }
    ++result->simulated;
    const auto& plan = std::get<PlannedLayout>(known);
    const auto searched = with_other_placements(plan);
    const bool is_faster = searched && searched->nanoseconds() < plan.nanoseconds();
    add_plan(is_faster ? *searched : plan, &result->plans);
    return plan.peak_bytes;
  } catch (const Error& error) {
    failed_.insert(to_string(layout));
    // A layout with an uneven cut was not counted among those of the space.
    layout.cut.empty() ? --result->possible : ++result->layouts;
    add_refusal(error.what(), layout, &result->refused);
    return std::nullopt;
  }
}

// The layout with searched placements instead of declared ones, or the other way round. Nothing if
// placements are not searched, or if the job cannot have it or does not fit.
std::optional<PlannedLayout> Planner::with_other_placements(const PlannedLayout& plan) {
  JobLayout other = plan.layout;
  other.has_searched_placements = !other.has_searched_placements;
  if (!options_.searches_placements || is_ruled_out(other) ||
      !subject_.can_search_placements(plan.layout))
    return std::nullopt;
  try {
    const auto known = simulated(other, plan.estimate);
    const auto* planned = std::get_if<PlannedLayout>(&known);
    return planned ? std::optional(*planned) : std::nullopt;
  } catch (const Error&) {
    failed_.insert(to_string(other));
    return std::nullopt;
  }
}

// Adds nothing if the list has a plan of the same layout, with either placements, or an equal plan
// of the other mesh order.
void Planner::add_plan(PlannedLayout plan, std::vector<PlannedLayout>* plans) const {
  plan.equals_other_order = !has_one_link() && has_equal_orders(plan.layout, machine_);
  for (PlannedLayout& known : *plans) {
    if (without_search(known.layout) == without_search(plan.layout)) return;
    if (!differ_by_order(known.layout, plan.layout)) continue;
    const bool are_equal =
        known.nanoseconds() == plan.nanoseconds() && known.peak_bytes == plan.peak_bytes;
    if (!are_equal && !plan.equals_other_order) continue;
    known.equals_other_order = true;
    return;
  }
  plans->push_back(std::move(plan));
}

bool Planner::is_late() const {
  return options_.time_limit_s > 0 && now() - started_ > options_.time_limit_s;
}

// The possible layouts with lower bounds from their passes alone, lowest first.
std::vector<Planner::Candidate> Planner::candidates_in(const LayoutSpace& space,
                                                       PlanResult* result) {
  std::vector<Candidate> out;
  for (const JobLayout& layout : all_layouts(space)) {
    if (repeats_other_order(layout, space)) continue;
    ++result->layouts;
    if (const auto reason = subject_.refusal(layout)) {
      add_refusal(*reason, layout, &result->refused);
      continue;
    }
    try {
      out.push_back({layout, lower_bound(layout, costs_.passes_alone(layout))});
    } catch (const Error& error) {
      add_refusal(error.what(), layout, &result->refused);
    }
  }
  result->possible = out.size();
  std::ranges::stable_sort(out, {}, seconds_of);
  return out;
}

// Nothing for a layout that the model turns out not to have.
std::optional<PartCosts> Planner::costs_of(const JobLayout& layout, PlanResult* result) {
  const std::string name = to_string(layout);
  if (impossible_.contains(name)) return std::nullopt;
  try {
    return costs_.of(layout);
  } catch (const Error& error) {
    impossible_.insert(name);
    --result->possible;
    add_refusal(error.what(), layout, &result->refused);
    return std::nullopt;
  }
}

Estimate Planner::played(const JobLayout& layout, const PartCosts& costs, PlanResult* result) {
  const auto [known, is_new] = played_.try_emplace(to_string(layout));
  if (is_new) {
    known->second = estimate(layout, costs, machine_);
    ++result->estimated;
  }
  return known->second;
}

bool Planner::may_fit(const Candidate& candidate) const {
  const auto bytes = static_cast<double>(candidate.estimate.bytes);
  const auto room = static_cast<double>(room_);
  const auto known = corrections_.find(candidate.layout.schedule);
  if (known == corrections_.end()) return bytes <= room * kBytesMargin;
  return bytes * known->second <= room * kCorrectedMargin;
}

// Plays schedules until no other layout can be among the best; fastest first.
std::vector<Planner::Candidate> Planner::best_of(const std::vector<Candidate>& candidates,
                                                 PlanResult* result) {
  const size_t wanted = kPlayedPerFinalist * options_.finalists;
  std::vector<Candidate> best;
  for (const Candidate& candidate : candidates) {
    if (best.size() >= wanted && seconds_of(candidate) > seconds_of(best[wanted - 1])) break;
    if (is_late()) {
      result->is_complete = false;
      result->bound = seconds_of(candidate);
      break;
    }
    const auto costs = costs_of(candidate.layout, result);
    if (!costs) continue;
    std::vector<JobLayout> cuts = {candidate.layout};
    if (auto uneven = with_best_cut(candidate.layout, *costs, room_))
      cuts.push_back(std::move(*uneven));
    for (const JobLayout& layout : cuts) {
      Candidate cut{layout, lower_bound(layout, *costs)};
      if (!may_fit(cut) || is_ruled_out(layout)) continue;
      if (best.size() >= wanted && seconds_of(cut) > seconds_of(best[wanted - 1])) continue;
      cut.estimate = played(layout, *costs, result);
      best.insert(std::ranges::upper_bound(best, seconds_of(cut), {}, seconds_of), cut);
    }
  }
  if (best.size() > wanted) best.resize(wanted);
  return best;
}

// Whether a layout is known to be too large, or to be impossible as a whole.
bool Planner::is_ruled_out(const JobLayout& layout) const {
  const std::string name = to_string(layout);
  if (failed_.contains(name)) return true;
  const auto known = known_.find(name);
  return known != known_.end() && std::holds_alternative<TooLargeLayout>(known->second);
}

std::variant<PlannedLayout, TooLargeLayout> Planner::simulated(const JobLayout& layout,
                                                               const Estimate& estimate) {
  const std::string name = to_string(layout);
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  const auto keep = [&](auto found) { return known_[name] = std::move(found); };
  const int64_t rank = estimate.fullest_stage * layout.ranks_between_stages();
  const auto totals = subject_.totals_of(layout, rank);
  if (totals.peak_tensor_bytes > room_)
    return keep(TooLargeLayout{layout, rank, totals.peak_tensor_bytes, totals.held_at_peak});
  PlannedLayout planned{
      layout, estimate,
      std::make_shared<const simulation::Prediction>(subject_.predict(layout).prediction)};
  const auto& ranks = planned.predicted->ranks;
  const auto fullest =
      std::ranges::max_element(ranks, {}, &simulation::RankPrediction::peak_tensor_bytes);
  planned.fullest_rank = fullest - ranks.begin();
  planned.peak_bytes = fullest->peak_tensor_bytes;
  if (planned.peak_bytes > room_)
    return keep(
        TooLargeLayout{layout, planned.fullest_rank, planned.peak_bytes, fullest->held_at_peak});
  return keep(std::move(planned));
}

RuleOfThumb Planner::first_fitting(std::string rule, const std::vector<JobLayout>& layouts) {
  RuleOfThumb out{.rule = std::move(rule)};
  for (const JobLayout& layout : layouts) {
    if (subject_.refusal(layout)) continue;
    if (is_late()) {
      out.is_complete = false;
      break;
    }
    try {
      const Estimate bound = lower_bound(layout, costs_.of(layout));
      if (!may_fit({layout, bound})) continue;
      const auto known = simulated(layout, bound);
      if (const auto* planned = std::get_if<PlannedLayout>(&known)) {
        out.planned = *planned;
        break;
      }
    } catch (const Error&) {
      continue;  // the model cannot have it
    }
  }
  return out;
}

}  // namespace phi::planning
