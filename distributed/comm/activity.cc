// Writing and printing activities.
#include "distributed/comm/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

#include "phi/common/yield_point.h"

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

const char* name_of(CallState state) {
  switch (state) {
    case CallState::kFinished:
      return "last finished";
    case CallState::kWaiting:
      return "waiting in";
    case CallState::kStarted:
      return "last started";
  }
  return "in";
}

}  // namespace

// The group's place or the first free one; in a full table the first that was looked at.
size_t Activity::place_of(uint64_t group_hash) const {
  const size_t home = group_hash % kPlaces;
  for (size_t i = 0; i < kPlaces; ++i) {
    const Came& here = came[(home + i) % kPlaces];
    if (here.sequence == 0 || here.group_hash == group_hash) return (home + i) % kPlaces;
  }
  return home;
}

void Activity::set(const Call& call, CallState now) {
  set_text(op, name_of(call.op));
  set_text(scope, call.scope ? call.scope : "");
  set_text(group, call.group->name());
  yield_point("activity.set.half");
  sequence = call.sequence;
  bytes = call.bytes;
  since_ns = now_ns();
  state = now;
  Came& here = came[place_of(call.group->hash())];
  const uint64_t before = here.group_hash == call.group->hash() ? here.sequence : 0;
  here = {call.group->hash(), std::max(before, call.sequence)};
}

bool Activity::came_to(const Call& call) const {
  const Came& here = came[place_of(call.group->hash())];
  return here.group_hash == call.group->hash() && here.sequence >= call.sequence;
}

std::string Activity::to_string() const {
  if (sequence == 0) return "has made no call yet";
  const std::string from = scope[0] != '\0' ? fmt::format(", from {}", scope) : "";
  return fmt::format("{} {} #{} of group {} ({} bytes{}), {:.1f} s ago", name_of(state), op,
                     sequence, group, bytes, from, static_cast<double>(now_ns() - since_ns) * 1e-9);
}

std::string timeout_report(const Call& call, World::Milliseconds deadline,
                           const std::function<const Activity*(int64_t)>& activity_of) {
  std::string out = fmt::format("No answer within {:g} s in {}.",
                                static_cast<double>(deadline.count()) / 1000, call.to_string());
  constexpr size_t kShown = 64;
  const auto ranks = call.group->ranks();
  bool all_came = ranks.size() <= kShown;
  for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    const Activity* activity = activity_of(ranks[i]);
    if (activity == nullptr) {
      out += fmt::format("\n  rank {}  is on another machine; see its own message", ranks[i]);
      all_came = false;
      continue;
    }
    const bool came = activity->came_to(call);
    out += fmt::format("\n  rank {}  {}{}", ranks[i], activity->to_string(),
                       came ? "" : "  <- missing");
    all_came = all_came && came;
  }
  if (ranks.size() > kShown) out += fmt::format("\n  and {} more", ranks.size() - kShown);
  if (all_came) out += "\n  all have come; messages do not move while a rank is outside any call";
  return out;
}

}  // namespace phi::distributed
