// Each micro-batch of a chunk passes through a few states on its stage; each action is a
// transition.
#include <algorithm>

#include "distributed/pipeline/schedules/check.h"
#include "phi/common/errors.h"

namespace phi::distributed::pipeline {
namespace {

enum class ActionProgress : uint8_t { kNew, kForwardDone, kInputDone, kDone };

struct Transition {
  ActionProgress from;
  ActionProgress to;
};

Transition transition_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return {ActionProgress::kNew, ActionProgress::kForwardDone};
    case ActionKind::kBackward:
      return {ActionProgress::kForwardDone, ActionProgress::kDone};
    case ActionKind::kBackwardInput:
      return {ActionProgress::kForwardDone, ActionProgress::kInputDone};
    case ActionKind::kBackwardWeight:
      return {ActionProgress::kInputDone, ActionProgress::kDone};
  }
  throw errors::InvalidArgument("action kind {} is unknown.", static_cast<int>(kind));
}

// The action that a micro-batch in `state` lacks.
std::string_view missing_in(ActionProgress state) {
  constexpr std::string_view kMissing[] = {"forward", "backward", "backward_weight", "nothing"};
  return kMissing[static_cast<size_t>(state)];
}

class StageCheck {
 public:
  StageCheck(const Schedule& schedule, int stage)
      : schedule_(schedule),
        stage_(stage),
        states_(static_cast<size_t>(schedule.chunks) * static_cast<size_t>(schedule.micro_batches),
                ActionProgress::kNew) {}

  void run() {
    for (const Action& action : schedule_.actions[static_cast<size_t>(stage_)]) take(action);
    const auto undone = std::find_if(states_.begin(), states_.end(), [](ActionProgress state) {
      return state != ActionProgress::kDone;
    });
    if (undone == states_.end()) return;
    const int index = static_cast<int>(undone - states_.begin());
    const Action about{ActionKind::kForward, index % schedule_.micro_batches,
                       index / schedule_.micro_batches};
    throw errors::InvalidArgument("schedule {}: stage {} has no {}{}.", schedule_.kind, stage_,
                                  missing_in(*undone), of_micro_batch(about));
  }

 private:
  void take(const Action& action) {
    PHI_CHECK(action.micro_batch >= 0 && action.micro_batch < schedule_.micro_batches &&
                  action.chunk >= 0 && action.chunk < schedule_.chunks,
              errors::InvalidArgument(
                  "schedule {}: stage {} runs micro-batch {} of chunk {}, but there are {} "
                  "micro-batches and {} chunks.",
                  schedule_.kind, stage_, action.micro_batch, action.chunk, schedule_.micro_batches,
                  schedule_.chunks));
    ActionProgress& state =
        states_[static_cast<size_t>(action.chunk) * static_cast<size_t>(schedule_.micro_batches) +
                static_cast<size_t>(action.micro_batch)];
    const auto [from, to] = transition_of(action.kind);
    PHI_CHECK(state >= from,
              errors::InvalidArgument(
                  "schedule {}: stage {} runs {} before its {}.", schedule_.kind, stage_,
                  to_string(schedule_, action),
                  from == ActionProgress::kForwardDone ? "forward" : "backward_input"));
    PHI_CHECK(state == from,
              errors::InvalidArgument("schedule {}: stage {} runs {} a second time.",
                                      schedule_.kind, stage_, to_string(schedule_, action)));
    state = to;
  }

  // " of micro-batch 3, chunk 1", in the words of to_string.
  std::string of_micro_batch(const Action& action) const {
    return to_string(schedule_, action).substr(name_of(action.kind).size());
  }

  const Schedule& schedule_;
  int stage_;
  std::vector<ActionProgress> states_;
};

}  // namespace

void check_complete(const Schedule& schedule) {
  PHI_CHECK(schedule.stages >= 1 && schedule.chunks >= 1 && schedule.micro_batches >= 1,
            errors::InvalidArgument(
                "schedule {} has {} stages, {} chunks and {} micro-batches; each must be at least "
                "1.",
                schedule.kind, schedule.stages, schedule.chunks, schedule.micro_batches));
  PHI_CHECK(schedule.actions.size() == static_cast<size_t>(schedule.stages),
            errors::InvalidArgument("schedule {} has {} stages but {} lists of actions.",
                                    schedule.kind, schedule.stages, schedule.actions.size()));
  for (int stage = 0; stage < schedule.stages; ++stage) StageCheck(schedule, stage).run();
}

}  // namespace phi::distributed::pipeline
