// A pipeline schedule as data: the actions of each stage, in order.
//
//   const Schedule s = make_schedule(ScheduleKind::kZeroBubbleH1, 8, 24);  // stages, micro-batches
//   check(s);                                                  // complete, no deadlock, memory
//   for (const ScheduleStep& step : program_order(s)) ...  // what every rank walks through
//
// A model of stages * chunks parts runs on `stages` stages. Stage i has the parts i, i + stages, i
// + 2 * stages, ... as its chunks 0, 1, 2, ... (Narayanan et al. 2021). Such a part is a virtual
// stage.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace phi::distributed::pipeline {

enum class ActionKind : uint8_t {
  kForward,
  kBackward,        // for input and weight together
  kBackwardInput,   // input gradient only, which the previous stage needs
  kBackwardWeight,  // weight gradient only, as a later action
};
/// "forward", "backward", "backward_input", "backward_weight".
std::string_view name_of(ActionKind kind);
/// F, B or W; kBackward and kBackwardInput are both B.
char letter_of(ActionKind kind);

struct Action {
  ActionKind kind = ActionKind::kForward;
  int micro_batch = 0;
  int chunk = 0;  // index among the stage's model chunks
  friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
  /// A name that parse_schedule_kind accepts, or any other for a custom table.
  std::string kind;
  int stages = 0;
  int chunks = 1;  // per stage
  int micro_batches = 0;
  std::vector<std::vector<Action>> actions;  // one list per stage, in order of execution

  /// Position in the model, 0 .. virtual_stages() - 1.
  int virtual_stage(int stage, int chunk) const { return chunk * stages + stage; }
  int virtual_stages() const { return stages * chunks; }
};

/// "backward_input of micro-batch 3", with ", chunk 1" if stages have several.
std::string to_string(const Schedule& schedule, const Action& action);

enum class ScheduleKind : uint8_t {
  kGPipe,         // all forwards, then all backwards (Huang et al. 2019)
  k1F1B,          // one forward, one backward (Narayanan et al. 2019)
  kInterleaved,   // 1F1B over several model chunks per stage (Narayanan et al. 2021)
  kZeroBubbleH1,  // the memory of 1F1B, a third of its bubble (Qi et al. 2024)
  kZeroBubbleH2,  // twice the memory, no bubble when all times are equal (Qi et al. 2024)
};
inline constexpr std::array kScheduleKinds = {
    ScheduleKind::kGPipe, ScheduleKind::k1F1B, ScheduleKind::kInterleaved,
    ScheduleKind::kZeroBubbleH1, ScheduleKind::kZeroBubbleH2};
/// "gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2".
std::string_view name_of(ScheduleKind kind);
/// The inverse of name_of. Errors: NotFound that names the nearest kind and lists all.
ScheduleKind parse_schedule_kind(std::string_view name);

}  // namespace phi::distributed::pipeline
