// Schedules as short text, for tests: F3 forward of micro-batch 3, B whole backward, I backward for
// the input, W for the weight; F3.1 of chunk 1.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/pipeline/schedules/make_schedule.h"

namespace phi::distributed::pipeline {

inline constexpr std::string_view kLetters = "FBIW";

inline std::string text_of(const Schedule& schedule, const Action& action) {
  std::string text =
      fmt::format("{}{}", kLetters[static_cast<size_t>(action.kind)], action.micro_batch);
  if (schedule.chunks > 1) text += fmt::format(".{}", action.chunk);
  return text;
}

inline std::string text_of(const Schedule& schedule, int stage) {
  std::string text;
  for (const Action& action : schedule.actions[static_cast<size_t>(stage)]) {
    text += (text.empty() ? "" : " ") + text_of(schedule, action);
  }
  return text;
}

/// A table with one text per stage.
inline Schedule table(int chunks, int micro_batches, std::initializer_list<const char*> stages) {
  Schedule schedule = {"mine", static_cast<int>(stages.size()), chunks, micro_batches, {}};
  for (const char* stage : stages) {
    schedule.actions.emplace_back();
    std::istringstream words(stage);
    for (std::string word; words >> word;) {
      const size_t point = word.find('.');
      schedule.actions.back().push_back(
          {static_cast<ActionKind>(kLetters.find(word[0])), std::stoi(word.substr(1)),
           point == std::string::npos ? 0 : std::stoi(word.substr(point + 1))});
    }
  }
  return schedule;
}

/// Every kind with many numbers of stages, micro-batches and chunks: fewer micro-batches than
/// stages, one stage, and micro-batches that stages do not divide among them.
inline std::vector<Schedule> many_schedules() {
  std::vector<Schedule> all;
  for (const ScheduleKind kind : kScheduleKinds) {
    for (const int stages : {1, 2, 3, 4, 5, 8}) {
      for (const int micro_batches : {1, 2, 3, 4, 5, 7, 8, 12, 19}) {
        for (const int chunks : {1, 2, 3}) {
          if (chunks > 1 && kind != ScheduleKind::kInterleaved) continue;
          all.push_back(make_schedule(kind, stages, micro_batches, chunks));
        }
      }
    }
  }
  return all;
}

inline std::string name_of(const Schedule& s) {
  return fmt::format("{}: {} stages, {} micro-batches, {} chunks", s.kind, s.stages,
                     s.micro_batches, s.chunks);
}

}  // namespace phi::distributed::pipeline
