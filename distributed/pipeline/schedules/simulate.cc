// Each stage runs until it waits for data; the action that produces the data wakes it. Every action
// is therefore visited once, and once more if it had to wait.
#include "distributed/pipeline/schedules/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "distributed/pipeline/schedules/check.h"
#include "distributed/pipeline/schedules/data_flow.h"
#include "phi/common/errors.h"

namespace phi::distributed::pipeline {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::infinity();

void check_times(const ActionTimes& times) {
  const std::pair<std::string_view, double> named[] = {{"forward", times.forward},
                                                       {"backward_input", times.backward_input},
                                                       {"backward_weight", times.backward_weight},
                                                       {"comm", times.comm}};
  for (const auto& [name, time] : named) {
    PHI_CHECK(std::isfinite(time) && time >= 0,
              errors::InvalidArgument("simulate: time {} is {}, expected a finite number >= 0.",
                                      name, time));
  }
}

class Simulator {
 public:
  Simulator(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule),
        times_(times),
        flow_(schedule),
        arrival_(flow_.size(), kNotYet),
        spans_(schedule.actions.size()) {}

  std::vector<std::vector<Span>> run() {
    std::vector<int> awake;
    for (int stage = schedule_.stages - 1; stage >= 0; --stage) awake.push_back(stage);
    while (!awake.empty()) {
      const int stage = awake.back();
      awake.pop_back();
      while (const Action* action = next(stage)) {
        if (start_of(stage, *action) == kNotYet) break;
        if (const auto consumer = execute(stage, *action)) awake.push_back(*consumer);
      }
    }
    check_all_ran();
    return std::move(spans_);
  }

 private:
  const Action* next(int stage) const {
    const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
    const size_t done = spans_[static_cast<size_t>(stage)].size();
    return done < actions.size() ? &actions[done] : nullptr;
  }

  double start_of(int stage, const Action& action) const {
    const auto& spans = spans_[static_cast<size_t>(stage)];
    const double free = spans.empty() ? 0 : spans.back().end;
    const auto data = flow_.consumed_by(stage, action);
    return data ? std::max(free, arrival_[*data]) : free;
  }

  // The stage that this action wakes, if it is another one.
  std::optional<int> execute(int stage, const Action& action) {
    const double start = start_of(stage, action);
    const double end = start + duration(times_, action.kind);
    spans_[static_cast<size_t>(stage)].push_back({start, end});
    const auto data = flow_.produced_by(stage, action);
    if (!data) return std::nullopt;
    const int consumer = flow_.consumer(stage, action);
    arrival_[*data] = consumer == stage ? end : end + times_.comm;
    if (consumer == stage) return std::nullopt;
    return consumer;
  }

  void check_all_ran() const {
    constexpr int kMostNamed = 8;
    std::string waiting;
    int stages = 0;
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      const Action* action = next(stage);
      if (action == nullptr || ++stages > kMostNamed) continue;
      waiting +=
          fmt::format("{}stage {} waits at action {}, {}", stages == 1 ? "" : "; ", stage,
                      spans_[static_cast<size_t>(stage)].size(), to_string(schedule_, *action));
    }
    if (stages > kMostNamed) waiting += fmt::format("; {} more stages wait", stages - kMostNamed);
    PHI_CHECK(stages == 0,
              errors::InvalidArgument("schedule {} deadlocks: {}.", schedule_.kind, waiting));
  }

  const Schedule& schedule_;
  const ActionTimes& times_;
  DataFlow flow_;
  std::vector<double> arrival_;  // arrival time of each piece at its consumer
  std::vector<std::vector<Span>> spans_;
};

}  // namespace

double duration(const ActionTimes& times, ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return times.forward;
    case ActionKind::kBackward:
      return times.backward_input + times.backward_weight;
    case ActionKind::kBackwardInput:
      return times.backward_input;
    case ActionKind::kBackwardWeight:
      return times.backward_weight;
  }
  throw errors::Internal("action kind {} is unknown.", static_cast<int>(kind));
}

Simulation simulate(const Schedule& schedule, const ActionTimes& times) {
  check_times(times);
  check_complete(schedule);
  Simulation result;
  result.spans = Simulator(schedule, times).run();
  for (const auto& spans : result.spans) {
    result.makespan = std::max(result.makespan, spans.back().end);
    result.cost = std::max(result.cost, spans.back().end - spans.front().start);
  }
  result.ideal = static_cast<double>(schedule.micro_batches) * schedule.chunks *
                 (times.forward + times.backward_input + times.backward_weight);
  // sums in another order may differ by a rounding error
  if (result.cost > result.ideal) result.bubble_rate = (result.cost - result.ideal) / result.cost;
  result.peaks = peak_micro_batches(schedule);
  return result;
}

}  // namespace phi::distributed::pipeline
