// Durations of actions, and their check.
#include "distributed/pipeline/schedules/schedule_times.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "phi/common/errors.h"

namespace phi::distributed::pipeline {

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

void check_times(const ActionTimes& times) {
  const std::pair<std::string_view, double> named[] = {{"forward", times.forward},
                                                       {"backward_input", times.backward_input},
                                                       {"backward_weight", times.backward_weight},
                                                       {"comm", times.comm}};
  for (const auto& [name, time] : named) {
    PHI_CHECK(
        std::isfinite(time) && time >= 0,
        errors::InvalidArgument(
            "the time {} of a schedule is {}; expected a finite number, 0 or more.", name, time));
  }
}

}  // namespace phi::distributed::pipeline
