// Writing and printing activities.
#include "distributed/comm/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

namespace phi::distributed {
namespace {

template <size_t N>
void set_text(char (&to)[N], std::string_view text) {
  const size_t n = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Activity::set(const Call& call, bool is_waiting) {
  set_text(op, name_of(call.op));
  set_text(scope, call.scope ? call.scope : "");
  set_text(group, call.group->name());
  group_hash = call.group->hash();
  sequence = call.sequence;
  bytes = call.bytes;
  since_ns = now_ns();
  waiting = is_waiting ? 1 : 0;
}

std::string Activity::to_string() const {
  if (sequence == 0) return "has made no call yet";
  const std::string from = scope[0] != '\0' ? fmt::format(", from {}", scope) : "";
  return fmt::format("{} {} #{} of group {} ({} bytes{}), {:.1f} s ago",
                     waiting ? "waiting in" : "last finished", op, sequence, group, bytes, from,
                     static_cast<double>(now_ns() - since_ns) * 1e-9);
}

std::string timeout_report(const Call& call, World::Milliseconds deadline,
                           const std::function<const Activity*(int64_t)>& activity_of) {
  std::string out = fmt::format("No answer within {:g} s in {}.",
                                static_cast<double>(deadline.count()) / 1000, call.to_string());
  constexpr size_t kShown = 64;
  const auto ranks = call.group->ranks();
  for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    const Activity* activity = activity_of(ranks[i]);
    if (activity == nullptr) {
      out += fmt::format("\n  rank {}  is on another machine; see its own message", ranks[i]);
      continue;
    }
    const bool here = activity->waiting != 0 && activity->group_hash == call.group->hash() &&
                      activity->sequence == call.sequence;
    out += fmt::format("\n  rank {}  {}{}", ranks[i], activity->to_string(),
                       here ? "" : "  <- missing");
  }
  if (ranks.size() > kShown) out += fmt::format("\n  and {} more", ranks.size() - kShown);
  return out;
}

}  // namespace phi::distributed
