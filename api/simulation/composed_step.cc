// Times bodies on the ranks of one stage, and plays the schedule with one rank for each stage.
#include "api/simulation/composed_step.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>

#include "distributed/pipeline/schedules/data_flow.h"
#include "distributed/simulator/simulate.h"
#include "phi/common/errors.h"

namespace phi::simulation {
namespace {

using distributed::pipeline::Action;
using distributed::pipeline::ActionKind;
using distributed::pipeline::DataFlow;
using distributed::pipeline::Schedule;
using distributed::simulator::CallPattern;
using distributed::simulator::Computation;
using distributed::simulator::GroupCall;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;

void check_composed(const ComposedStep& step) {
  const Schedule& schedule = step.schedule;
  const auto stages = static_cast<size_t>(schedule.stages);
  PHI_CHECK(step.parts.size() == static_cast<size_t>(schedule.virtual_stages()),
            errors::InvalidArgument("a composed step has parts of {} virtual stages, and its "
                                    "schedule has {}.",
                                    step.parts.size(), schedule.virtual_stages()));
  PHI_CHECK(step.updates.size() == stages,
            errors::InvalidArgument("a composed step has updates of {} stages, and its schedule "
                                    "has {}.",
                                    step.updates.size(), stages));
  PHI_CHECK(schedule.chunks == 1 || schedule.stages != 2,
            errors::InvalidArgument("two stages of {} chunks cannot be composed: activations and "
                                    "gradients pass the same way; record the whole step.",
                                    schedule.chunks));
}

double seconds_of(const BodySeconds& stage, ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return stage.forward;
    case ActionKind::kBackward:
      return stage.backward;
    case ActionKind::kBackwardInput:
      return stage.backward - stage.backward_weight;
    case ActionKind::kBackwardWeight:
      return stage.backward_weight;
  }
  return 0;
}

// Builds the program of the first rank of each stage.
class StagePrograms {
 public:
  StagePrograms(const ComposedStep& step, BodyTimes& times)
      : step_(step),
        times_(times),
        flow_(step.schedule),
        programs_(static_cast<size_t>(step.schedule.stages * step.ranks_per_stage)) {
    for (const auto& parts : step.parts) seconds_.push_back(sum_of(parts));
    after_receive_ = times.seconds_of(step.after_receive);
  }

  RankPrograms build() {
    for (int stage = 0; stage < step_.schedule.stages; ++stage) {
      for (const Action& action : step_.schedule.actions[static_cast<size_t>(stage)])
        add_action(stage, action);
      if (step_.tied_bytes > 0) add_tied(stage);
      add_seconds(stage, "update", times_.seconds_of(step_.updates[static_cast<size_t>(stage)]));
    }
    return std::move(programs_);
  }

 private:
  BodySeconds sum_of(const std::vector<RepeatedBody>& parts) {
    BodySeconds sum;
    for (const RepeatedBody& part : parts) {
      const BodySeconds one = times_.of(part.body);
      sum.forward += one.forward * static_cast<double>(part.times);
      sum.backward += one.backward * static_cast<double>(part.times);
      sum.backward_weight += one.backward_weight * static_cast<double>(part.times);
    }
    return sum;
  }

  int64_t rank_of(int stage) const { return stage * step_.ranks_per_stage; }
  RankProgram& program_of(int stage) { return programs_[static_cast<size_t>(rank_of(stage))]; }

  void add_action(int stage, const Action& action) {
    const int stages = step_.schedule.stages;
    const bool forward = action.kind == ActionKind::kForward;
    const int from = (stage + (forward ? stages - 1 : 1)) % stages;
    if (flow_.consumed_by(stage, action) && from != stage) {
      add_message(stage, from, stage);
      add_seconds(stage, "after_receive", after_receive_);
    }
    const int part = step_.schedule.virtual_stage(stage, action.chunk);
    add_seconds(stage, name_of(action.kind),
                seconds_of(seconds_[static_cast<size_t>(part)], action.kind));
    const int to = flow_.consumer(stage, action);
    if (flow_.produced_by(stage, action) && to != stage) add_message(stage, stage, to);
  }

  void add_seconds(int stage, std::string_view what, double seconds) {
    if (seconds <= 0) return;
    program_of(stage).events.emplace_back(
        Computation{.op = what, .dtype = DataType::FLOAT32, .seconds = seconds});
  }

  // Each direction between two stages has a group of its own: both list their calls by micro-batch.
  void add_message(int stage, int from, int to) {
    GroupCall call;
    call.group = group_index(stage, {rank_of(from), rank_of(to)});
    call.op = "exchange";
    call.bytes = step_.bytes_between;
    const bool sends = stage == from;
    const int64_t bytes = step_.bytes_between;
    call.is_started = sends;
    call.peers = {{1, sends ? 1 : 0, sends ? bytes : 0, sends ? 0 : 1, sends ? 0 : bytes}};
    program_of(stage).events.emplace_back(std::move(call));
  }

  void add_tied(int stage) {
    const int last = step_.schedule.stages - 1;
    if (last == 0 || (stage != 0 && stage != last)) return;
    const int64_t bytes = step_.tied_bytes;
    GroupCall call;
    // Listed first to last, as activations are; they have all been received by now.
    call.group = group_index(stage, {rank_of(0), rank_of(last)});
    call.op = "all_reduce";
    call.pattern = CallPattern::kDirect;
    call.bytes_combined = bytes;
    call.bytes = bytes;
    call.peers = {{1, 1, bytes, 1, bytes}};
    program_of(stage).events.emplace_back(std::move(call));
  }

  size_t group_index(int stage, const std::vector<int64_t>& ranks) {
    auto& groups = program_of(stage).groups;
    const auto known = std::ranges::find(groups, ranks);
    const auto index = static_cast<size_t>(known - groups.begin());
    if (known == groups.end()) groups.push_back(ranks);
    return index;
  }

  const ComposedStep& step_;
  BodyTimes& times_;
  DataFlow flow_;
  std::vector<BodySeconds> seconds_;  // by virtual stage
  double after_receive_ = 0;
  RankPrograms programs_;
};

// For programs of the first rank of each stage, whose launches have known times. The other ranks of
// a stage send and compute as much at the same time.
MachineModel links_of_first_ranks(const MachineModel& machine, int64_t ranks_per_stage) {
  MachineModel links = machine;
  links.cores /= static_cast<double>(ranks_per_stage);
  links.issue_us = 0;
  for (auto& link : links.links)
    link.GBps /= static_cast<double>(std::min(link.shared_by, ranks_per_stage));
  return links;
}

// The time of programs that only compute, for known times; nothing for others.
std::optional<double> known_seconds(const RankPrograms& programs) {
  double longest = 0;
  for (const RankProgram& program : programs) {
    double seconds = 0;
    for (const auto& event : program.events) {
      const auto* computation = std::get_if<Computation>(&event);
      if (computation == nullptr || computation->seconds <= 0) return std::nullopt;
      seconds += computation->seconds;
    }
    longest = std::max(longest, seconds);
  }
  return longest;
}

// For programs of some ranks. The others send as much at the same time.
MachineModel with_links_in_use(MachineModel machine) {
  for (auto& link : machine.links) {
    link.GBps = link.rank_GBps();
    link.shared_by = 1;
  }
  return machine;
}

}  // namespace

BodySeconds BodyTimes::of(const std::shared_ptr<const Body>& body) {
  const auto known = known_.find(body);
  if (known != known_.end()) return known->second;
  return known_[body] = {seconds_of(body->forward), seconds_of(body->backward),
                         seconds_of(body->backward_weight)};
}

double BodyTimes::seconds_of(const RankPrograms& programs) const {
  const auto has_events = [](const RankProgram& each) { return !each.events.empty(); };
  if (std::ranges::none_of(programs, has_events)) return 0;
  if (machine_.issue_us == 0) {
    if (const auto known = known_seconds(programs)) return *known;
  }
  MachineModel machine = with_links_in_use(machine_);
  machine.cores = 0;
  return distributed::simulator::simulate(programs, machine).seconds;
}

double simulate(const ComposedStep& step, BodyTimes& times) {
  check_composed(step);
  const RankPrograms programs = StagePrograms(step, times).build();
  const MachineModel machine = links_of_first_ranks(times.machine(), step.ranks_per_stage);
  return distributed::simulator::simulate(programs, machine, {.one_by_one = true}).seconds;
}

}  // namespace phi::simulation
