// Plans a training job: chooses its mesh, pipeline, ZeRO stage, recomputation and micro-batches, so
// that its step is as short as possible and every rank has enough memory.
//
//   Planner planner(subject, machine, {.memory_bytes = 80'000'000'000});
//   const PlanResult result = planner.plan();
//   result.plans.front().layout;      // the fastest
//
// Layers and updates are recorded once for all layouts that share them (PartCostTable). Each layout
// gets a lower bound of its time. In the order of the bounds, schedules are played with these
// costs, until the bound of the next layout exceeds the estimates of enough others. Of each
// finalist the fullest rank is recorded, whose bytes are then exact; if it fits, all ranks are
// recorded and simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/planning/estimate.h"
#include "api/planning/part_costs.h"
#include "api/planning/plan_subject.h"

namespace phi::planning {

struct PlannerOptions {
  int64_t memory_bytes = 0;  // of tensors of a rank; 0: those of the machine
  size_t finalists = 10;     // that fit and are simulated as a whole
  double time_limit_s = 0;   // after which the best so far is returned; 0: none
  /// Whether each finalist is also simulated with searched placements along tp, which its plan has
  /// if it fits and is faster with them.
  bool searches_placements = false;
};

/// A layout that was simulated as a whole.
struct PlannedLayout {
  distributed::JobLayout layout;
  Estimate estimate;
  std::shared_ptr<const simulation::Prediction> predicted;  // not null
  int64_t fullest_rank = 0;
  int64_t peak_bytes = 0;       // of the fullest rank
  double measured_seconds = 0;  // of a step; 0: not measured
  /// Whether the other order of the mesh has the same time and bytes. That order is then not listed
  /// as a plan. False if all links are alike, since only one order is planned.
  bool equals_other_order = false;

  /// The predicted step, rounded. Plans are compared by it, because the order of additions changes
  /// the last digits of their seconds.
  int64_t nanoseconds() const;
};

/// A layout that does not fit: a rank that holds more than there is.
struct TooLargeLayout {
  distributed::JobLayout layout;
  int64_t rank = 0;
  int64_t bytes = 0;
  MemoryHolders held;  // at the peak
};

/// Layouts that the job cannot have, and why.
struct RefusedLayouts {
  std::string reason;
  size_t count = 0;
  distributed::JobLayout first;
};

/// The choice that a rule of thumb makes.
struct RuleOfThumb {
  std::string rule;
  std::optional<PlannedLayout> planned{};  // nothing: no layout of the rule fits, or is possible
  bool is_complete = true;                 // false: the time limit ended the search
};

/// The best layout that has another value of one key.
struct Alternative {
  std::string change;                      // "tp 16"
  std::optional<PlannedLayout> planned{};  // nothing: none fits, or is possible
};

struct PlanResult {
  std::vector<PlannedLayout> plans;         // that fit, fastest first
  std::vector<TooLargeLayout> too_large{};  // smallest first
  std::vector<RefusedLayouts> refused;      // most layouts first
  size_t layouts = 0;                       // in the space
  size_t possible = 0;                      // that the job can have
  size_t estimated = 0;                     // whose schedules were played
  size_t simulated = 0;                     // as a whole
  size_t trials = 0;                        // recorded parts
  bool is_complete = true;                  // false: the time limit ended the search
  double bound = 0;                         // if so: no layout is faster than this, by estimate
};

class Planner {
 public:
  /// `subject` and `machine` must outlive this.
  Planner(const PlanSubject& subject, const distributed::simulator::MachineModel& machine,
          PlannerOptions options = {});

  /// The fastest layouts of subject.space(), those of rules_of_thumb() included. The same on every
  /// machine.
  PlanResult plan();
  /// The layouts of `space`, such as that of the subject with some values fixed.
  PlanResult plan(const distributed::LayoutSpace& space);

  /// The layouts that three rules of thumb choose.
  std::vector<RuleOfThumb> rules_of_thumb();
  /// For each key of the layout, the best layout with another value of this key alone or of keys
  /// that depend on it: what plan() returns when the other value is fixed. Without the order of the
  /// mesh if both are equal. With PlannerOptions::searches_placements, also the same layout with
  /// the other placements.
  std::vector<Alternative> alternatives_to(const PlannedLayout& plan);

  int64_t memory_bytes() const { return room_; }

 private:
  struct Candidate {
    distributed::JobLayout layout;
    Estimate estimate;  // at first its lower bound
  };
  distributed::LayoutSpace space() const;
  std::vector<Candidate> candidates_in(const distributed::LayoutSpace& space, PlanResult* result);
  std::vector<Candidate> best_of(const std::vector<Candidate>& candidates, PlanResult* result);
  void simulate_first(const std::vector<Candidate>& candidates, PlanResult* result);
  void simulate_smallest(const std::vector<Candidate>& candidates, PlanResult* result);
  std::optional<int64_t> simulate(const Candidate& candidate, PlanResult* result);
  std::optional<PlannedLayout> with_other_placements(const PlannedLayout& plan);
  void add_plan(PlannedLayout plan, std::vector<PlannedLayout>* plans) const;
  bool has_one_link() const;
  bool repeats_other_order(const distributed::JobLayout& layout,
                           const distributed::LayoutSpace& space) const;
  static double seconds_of(const Candidate& candidate);
  std::optional<PartCosts> costs_of(const distributed::JobLayout& layout, PlanResult* result);
  Estimate played(const distributed::JobLayout& layout, const PartCosts& costs, PlanResult* result);
  bool may_fit(const Candidate& candidate) const;
  bool is_ruled_out(const distributed::JobLayout& layout) const;
  std::variant<PlannedLayout, TooLargeLayout> simulated(const distributed::JobLayout& layout,
                                                        const Estimate& estimate);
  RuleOfThumb first_fitting(std::string rule, const std::vector<distributed::JobLayout>& layouts);
  bool is_late() const;

  const PlanSubject& subject_;
  const distributed::simulator::MachineModel& machine_;
  PlannerOptions options_;
  int64_t room_;
  PartCostTable costs_;
  // By to_string of a layout.
  std::map<std::string, std::variant<PlannedLayout, TooLargeLayout>> known_;
  std::map<std::string, Estimate> played_;
  std::set<std::string> impossible_;
  std::set<std::string> failed_;  // whose simulation as a whole ended with an error
  std::map<distributed::pipeline::ScheduleKind, double>
      corrections_;  // least exact by estimated bytes
  double started_;
};

}  // namespace phi::planning
