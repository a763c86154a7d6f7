// A topological sort by time: actions at their start, transfers when their data is ready. An action
// starts when the stage's previous one has ended and its data has arrived.
#include "distributed/pipeline/schedules/program_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <tuple>

#include "distributed/pipeline/schedules/check.h"
#include "distributed/pipeline/schedules/data_flow.h"
#include "phi/common/errors.h"

namespace phi::distributed::pipeline {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::infinity();

// A step whose predecessors are all listed. Times never decrease along a dependency, so listing the
// earliest step first sorts the whole list.
struct Ready {
  double time;
  ScheduleStep step;

  friend bool operator>(const Ready& a, const Ready& b) { return a.key() > b.key(); }

 private:
  // Transfers precede actions; the other fields make the order unique.
  std::tuple<double, bool, uint8_t, int, int, int> key() const {
    return {time,
            step.kind == ScheduleStep::kAction,
            step.kind,
            step.stage,
            step.action.micro_batch,
            step.action.chunk};
  }
};

class Sorter {
 public:
  Sorter(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule),
        times_(times),
        flow_(schedule),
        listed_(schedule.actions.size(), 0),
        free_(schedule.actions.size(), 0),
        arrival_(flow_.size(), kNotYet) {}

  std::vector<ScheduleStep> run() {
    for (int stage = 0; stage < schedule_.stages; ++stage) offer_action(stage);
    std::vector<ScheduleStep> order;
    while (!ready_.empty()) {
      const auto [time, step] = ready_.top();
      ready_.pop();
      order.push_back(step);
      step.kind == ScheduleStep::kAction ? action_listed(time, step) : transfer_listed(time, step);
    }
    check_all_listed();
    return order;
  }

 private:
  // Adds the stage's next action to the queue once its data has arrived.
  void offer_action(int stage) {
    const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
    const size_t next = listed_[static_cast<size_t>(stage)];
    if (next == actions.size()) return;
    const auto data = flow_.consumed_by(stage, actions[next]);
    const double arrival = data ? arrival_[*data] : 0;
    if (arrival == kNotYet) return;
    ready_.push({std::max(free_[static_cast<size_t>(stage)], arrival),
                 {ScheduleStep::kAction, stage, actions[next]}});
  }

  void action_listed(double start, const ScheduleStep& step) {
    const double end = start + duration(times_, step.action.kind);
    free_[static_cast<size_t>(step.stage)] = end;
    ++listed_[static_cast<size_t>(step.stage)];
    if (flow_.produced_by(step.stage, step.action)) {
      const bool forward = step.action.kind == ActionKind::kForward;
      ready_.push({end,
                   {forward ? ScheduleStep::kTransferForward : ScheduleStep::kTransferBackward,
                    step.stage, step.action}});
    }
    offer_action(step.stage);
  }

  void transfer_listed(double start, const ScheduleStep& transfer) {
    const bool stays = flow_.consumer(transfer.stage, transfer.action) == transfer.stage;
    arrival_[*flow_.produced_by(transfer.stage, transfer.action)] =
        start + (stays ? 0 : times_.comm);
    offer_consumer(transfer);
  }

  // Adds the receiving stage's next action only if it waits for this data. Otherwise it has been
  // added before, or waits for other data.
  void offer_consumer(const ScheduleStep& transfer) {
    const int stage = flow_.consumer(transfer.stage, transfer.action);
    const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
    const size_t next = listed_[static_cast<size_t>(stage)];
    if (next == actions.size()) return;
    if (flow_.consumed_by(stage, actions[next]) ==
        flow_.produced_by(transfer.stage, transfer.action)) {
      offer_action(stage);
    }
  }

  void check_all_listed() const {
    constexpr int kMostNamed = 8;
    std::string waiting;
    int stages = 0;
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
      const size_t next = listed_[static_cast<size_t>(stage)];
      if (next == actions.size() || ++stages > kMostNamed) continue;
      waiting += fmt::format("{}stage {} waits at action {}, {}", stages == 1 ? "" : "; ", stage,
                             next, to_string(schedule_, actions[next]));
    }
    if (stages > kMostNamed) waiting += fmt::format("; {} more stages wait", stages - kMostNamed);
    PHI_CHECK(stages == 0,
              errors::InvalidArgument("schedule {} deadlocks: {}.", schedule_.kind, waiting));
  }

  const Schedule& schedule_;
  const ActionTimes& times_;
  DataFlow flow_;
  std::vector<size_t> listed_;   // actions of each stage
  std::vector<double> free_;     // by stage: the end of the last one
  std::vector<double> arrival_;  // of each piece at its consumer
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

std::vector<ScheduleStep> program_order(const Schedule& schedule, const ActionTimes& times) {
  check_times(times);
  check_complete(schedule);
  return Sorter(schedule, times).run();
}

}  // namespace phi::distributed::pipeline
