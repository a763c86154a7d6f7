// A topological sort by simulated time: actions at their start, transfers when their data is ready.
#include "distributed/pipeline/schedules/program_order.h"

#include <queue>
#include <tuple>

#include "distributed/pipeline/schedules/data_flow.h"

namespace phi::distributed::pipeline {
namespace {

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
        flow_(schedule),
        spans_(simulate(schedule, times).spans),
        listed_(schedule.actions.size(), 0),
        arrived_(flow_.size(), false) {}

  std::vector<ScheduleStep> run() {
    for (int stage = 0; stage < schedule_.stages; ++stage) offer_action(stage);
    std::vector<ScheduleStep> order;
    while (!ready_.empty()) {
      const ScheduleStep step = ready_.top().step;
      ready_.pop();
      order.push_back(step);
      if (step.kind == ScheduleStep::kAction) {
        action_listed(step);
      } else {
        arrived_[*flow_.produced_by(step.stage, step.action)] = true;
        offer_consumer(step);
      }
    }
    return order;
  }

 private:
  // Adds the stage's next action to the queue once its data has arrived.
  void offer_action(int stage) {
    const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
    const size_t next = listed_[static_cast<size_t>(stage)];
    if (next == actions.size()) return;
    const auto data = flow_.consumed_by(stage, actions[next]);
    if (data && !arrived_[*data]) return;
    ready_.push({spans_[static_cast<size_t>(stage)][next].start,
                 {ScheduleStep::kAction, stage, actions[next]}});
  }

  void action_listed(const ScheduleStep& step) {
    size_t& listed = listed_[static_cast<size_t>(step.stage)];
    const double end = spans_[static_cast<size_t>(step.stage)][listed].end;
    ++listed;
    if (flow_.produced_by(step.stage, step.action)) {
      const bool forward = step.action.kind == ActionKind::kForward;
      ready_.push({end,
                   {forward ? ScheduleStep::kTransferForward : ScheduleStep::kTransferBackward,
                    step.stage, step.action}});
    }
    offer_action(step.stage);
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

  const Schedule& schedule_;
  DataFlow flow_;
  std::vector<std::vector<Span>> spans_;
  std::vector<size_t> listed_;  // actions of each stage
  std::vector<bool> arrived_;   // pieces whose transfer is listed
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

std::vector<ScheduleStep> program_order(const Schedule& schedule, const ActionTimes& times) {
  return Sorter(schedule, times).run();
}

}  // namespace phi::distributed::pipeline
