// Follows each transfer to its consumer, and from there to the first answer.
#include "distributed/pipeline/schedules/release_points.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <vector>

namespace phi::distributed::pipeline {
namespace {

// A transfer by what it carries: the output of a virtual stage for a micro-batch, or the gradient
// of its input.
struct TransferId {
  bool is_forward;
  int from;  // virtual stage
  int micro_batch;
  auto operator<=>(const TransferId&) const = default;
};

class ReleaseSearch {
 public:
  ReleaseSearch(const Schedule& schedule, const std::vector<ScheduleStep>& order)
      : schedule_(schedule), order_(order), consuming_(static_cast<size_t>(schedule.stages)) {
    for (size_t i = 0; i < order.size(); ++i) {
      const ScheduleStep& step = order[i];
      if (step.kind != ScheduleStep::kAction) {
        posted_[{step.kind == ScheduleStep::kTransferForward, position(step),
                 step.action.micro_batch}] = i;
      } else if (const auto id = consumed_by(step)) {
        consumed_[*id] = i;
        consuming_[static_cast<size_t>(step.stage)].push_back(i);
      }
    }
  }

  // The step after which the transfer of step `sent` is released.
  size_t release_of(size_t sent) const {
    const ScheduleStep& step = order_[sent];
    const bool is_forward = step.kind == ScheduleStep::kTransferForward;
    const int to = position(step) + (is_forward ? 1 : -1);
    const size_t consumed = consumed_.at({is_forward, position(step), step.action.micro_batch});
    const int receiver = to % schedule_.stages;
    if (receiver == step.stage) return consumed;
    const std::vector<size_t>& own = consuming_[static_cast<size_t>(step.stage)];
    for (auto i = std::ranges::upper_bound(own, consumed); i != own.end(); ++i) {
      const TransferId id = *consumed_by(order_[*i]);
      if (id.from % schedule_.stages == receiver && posted_.at(id) > consumed) return *i;
    }
    return order_.size() - 1;
  }

 private:
  int position(const ScheduleStep& step) const {
    return schedule_.virtual_stage(step.stage, step.action.chunk);
  }
  // The transfer that an action consumes.
  std::optional<TransferId> consumed_by(const ScheduleStep& step) const {
    const int at = position(step);
    const bool is_first = at == 0;
    const bool is_last = at == schedule_.virtual_stages() - 1;
    switch (step.action.kind) {
      case ActionKind::kForward:
        if (is_first) return std::nullopt;
        return TransferId{true, at - 1, step.action.micro_batch};
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        if (is_last) return std::nullopt;
        return TransferId{false, at + 1, step.action.micro_batch};
      case ActionKind::kBackwardWeight:
        break;
    }
    return std::nullopt;
  }

  const Schedule& schedule_;
  const std::vector<ScheduleStep>& order_;
  std::map<TransferId, size_t> posted_;         // steps that start transfers
  std::map<TransferId, size_t> consumed_;       // actions that need them
  std::vector<std::vector<size_t>> consuming_;  // such actions, by stage
};

}  // namespace

std::vector<std::vector<size_t>> release_points(const Schedule& schedule,
                                                const std::vector<ScheduleStep>& order) {
  std::vector<std::vector<size_t>> released(order.size());
  const ReleaseSearch search(schedule, order);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i].kind != ScheduleStep::kAction) released[search.release_of(i)].push_back(i);
  }
  return released;
}

}  // namespace phi::distributed::pipeline
