// Names of schedule kinds and actions.
#include "distributed/pipeline/schedules/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::distributed::pipeline {

std::string_view name_of(ActionKind kind) {
  constexpr std::string_view kNames[] = {"forward", "backward", "backward_input",
                                         "backward_weight"};
  return kNames[static_cast<size_t>(kind)];
}

char letter_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return 'F';
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
      return 'B';
    case ActionKind::kBackwardWeight:
      return 'W';
  }
  return '?';
}

std::string to_string(const Schedule& schedule, const Action& action) {
  const std::string text =
      fmt::format("{} of micro-batch {}", name_of(action.kind), action.micro_batch);
  return schedule.chunks == 1 ? text : fmt::format("{}, chunk {}", text, action.chunk);
}

std::string_view name_of(ScheduleKind kind) {
  constexpr std::string_view kNames[] = {"gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2"};
  return kNames[static_cast<size_t>(kind)];
}

ScheduleKind parse_schedule_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ScheduleKind kind : kScheduleKinds) {
    names.push_back(name_of(kind));
    if (names.back() == name) return kind;
  }
  const auto nearest =
      std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
        return edit_distance(name, a) < edit_distance(name, b);
      });
  throw errors::NotFound("there is no pipeline schedule '{}', did you mean '{}'? Kinds: {}.", name,
                         *nearest, fmt::join(names, ", "));
}

}  // namespace phi::distributed::pipeline
