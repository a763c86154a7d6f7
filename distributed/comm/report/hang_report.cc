// Builds reports from the flight recorders of ranks.
#include "distributed/comm/report/hang_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "distributed/comm/group.h"
#include "distributed/comm/report/flight_recorder.h"

namespace phi::distributed {
namespace {

// Limits of a report on the terminal.
constexpr size_t kShownRanks = 64;
constexpr size_t kShownCalls = 3;
constexpr size_t kShownHistories = 8;  // largest group with the calls of all ranks

double seconds_since(int64_t ns) { return static_cast<double>(steady_ns() - ns) * 1e-9; }

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

int64_t last_change(const FlightRecorder::Entry& entry) {
  return std::max(entry.started_ns, entry.finished_ns);
}

// The rank's current state: the call in which it waits, or its last one.
const FlightRecorder::Entry* current(const std::vector<FlightRecorder::Entry>& calls) {
  const auto waiting = std::ranges::find(calls.rbegin(), calls.rend(), CallState::kWaiting,
                                         &FlightRecorder::Entry::state);
  if (waiting != calls.rend()) return &*waiting;
  const auto last = std::ranges::max_element(calls, {}, last_change);
  return last != calls.end() ? &*last : nullptr;
}

std::string doing(const FlightRecorder& flight_recorder) {
  const auto calls = flight_recorder.calls();
  const FlightRecorder::Entry* now = current(calls);
  if (now == nullptr) return "has made no call yet";
  return fmt::format("{} {}, {:.1f} s ago", name_of(now->state),
                     now->call.to_string(flight_recorder.name_of_group(now->call.group_hash)),
                     seconds_since(last_change(*now)));
}

std::string history(int64_t rank, const FlightRecorder& flight_recorder, size_t most) {
  const auto calls = flight_recorder.calls();
  if (calls.empty()) return {};
  std::string out = fmt::format("\n  last calls of rank {}:", rank);
  for (size_t i = calls.size() - std::min(most, calls.size()); i < calls.size(); ++i) {
    const FlightRecorder::Entry& entry = calls[i];
    const std::string end =
        entry.finished_ns > 0
            ? fmt::format("took {:.6f} s",
                          static_cast<double>(entry.finished_ns - entry.started_ns) * 1e-9)
        : entry.state == CallState::kStarted ? "in progress when last observed"
                                             : "not finished";
    out += fmt::format("\n    {}, began {:.3f} s ago, {}",
                       entry.call.to_string(flight_recorder.name_of_group(entry.call.group_hash)),
                       seconds_since(entry.started_ns), end);
  }
  return out;
}

// A call of the group as one rank made it.
struct CallOnRank {
  int64_t rank;
  CallHeader call;
};

// The first sequence number of the group at which the calls of two ranks differ, and these calls.
std::optional<std::pair<CallOnRank, CallOnRank>> first_difference(
    std::span<const int64_t> ranks, uint64_t group_hash, const RankStatusQuery& rank_status) {
  std::map<uint64_t, std::vector<CallOnRank>> by_number;
  for (const int64_t rank : ranks) {
    const FlightRecorder* flight_recorder = rank_status(rank).flight_recorder;
    if (flight_recorder == nullptr) continue;
    for (const FlightRecorder::Entry& entry : flight_recorder->calls()) {
      if (entry.call.group_hash != group_hash) continue;
      by_number[entry.call.sequence].push_back({rank, entry.call});
    }
  }
  for (const auto& [number, made] : by_number) {
    for (const CallOnRank& other : made) {
      if (difference(made.front().call, other.call, /*strict=*/true).empty()) continue;
      return std::pair(made.front(), other);
    }
  }
  return std::nullopt;
}

std::string difference_line(const CollectiveCall& call, std::span<const int64_t> ranks,
                            const RankStatusQuery& rank_status) {
  const auto found = first_difference(ranks, call.group->hash(), rank_status);
  if (!found) return {};
  const auto& [a, b] = *found;
  return fmt::format(
      "\n  the first of the last calls of group {} on which ranks differ is #{} ({}): rank {} "
      "calls {}, rank {} calls {}",
      call.group->name(), a.call.sequence, difference(a.call, b.call, /*strict=*/true), a.rank,
      a.call.to_string(call.group->name()), b.rank, b.call.to_string(call.group->name()));
}

bool has_reached(const RankStatus& status, const CollectiveCall& call) {
  return status.flight_recorder->has_reached(call.group->hash(), call.sequence);
}

// The call of a report.
struct ReportedCall {
  const CollectiveCall* call = nullptr;
  bool marks_missing = false;  // marks the ranks that have not reached it
};
enum class ReportExtent { kScreen, kAll };

// A line for each rank, the first call on which they differ, and the last calls of each.
std::string ranks_text(std::span<const int64_t> ranks, const RankStatusQuery& rank_status,
                       const ReportedCall& about, ReportExtent extent) {
  const CollectiveCall* const call = about.call;
  const size_t shown =
      std::min(ranks.size(), extent == ReportExtent::kAll ? ranks.size() : kShownRanks);
  std::string lines, histories;
  for (const int64_t rank : ranks.first(shown)) {
    const RankStatus status = rank_status(rank);
    if (status.flight_recorder == nullptr) {
      lines += fmt::format("\n  rank {}  is on another machine; see its own message", rank);
      continue;
    }
    const bool is_missing = about.marks_missing && !has_reached(status, *call);
    lines += fmt::format("\n  rank {}  {}{}{}", rank, doing(*status.flight_recorder),
                         status.process.empty() ? "" : " (" + status.process + ")",
                         is_missing ? "  <- missing" : "");
    if (extent == ReportExtent::kAll) {
      histories += history(rank, *status.flight_recorder, FlightRecorder::kCalls);
    } else if (is_missing || ranks.size() <= kShownHistories) {
      histories += history(rank, *status.flight_recorder, kShownCalls);
    }
  }
  if (ranks.size() > shown) lines += fmt::format("\n  and {} more", ranks.size() - shown);
  if (call) lines += difference_line(*call, ranks, rank_status);
  return lines + histories;
}

int64_t rank_of(const CollectiveCall& call) {
  return call.group->ranks()[static_cast<size_t>(call.group->position())];
}

bool all_have_reached(const CollectiveCall& call, const RankStatusQuery& rank_status) {
  return std::ranges::all_of(call.group->ranks(), [&](int64_t rank) {
    const RankStatus status = rank_status(rank);
    return status.flight_recorder != nullptr && has_reached(status, call);
  });
}

// Appends the report to a file in the folder AUTOPHI_REPORT_DIR, if set. Returns a line with the
// file's name, or with the reason for a failure.
std::string keep_report(int64_t rank, std::string_view text) {
  const char* folder = std::getenv("AUTOPHI_REPORT_DIR");
  if (folder == nullptr || *folder == '\0') return {};
  const std::string file = fmt::format("{}/hang-{}-rank{}.txt", folder, getpid(), rank);
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  bool written = fd >= 0;
  while (written && !text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    written = n > 0 || (n < 0 && errno == EINTR);
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  if (written) return fmt::format("\n  the full report is in {}", file);
  return fmt::format("\n  cannot write {} (AUTOPHI_REPORT_DIR): {}", file, std::strerror(error));
}

// Writes everything that the ranks remember to the file, and returns what fits a screen.
std::string kept_and_cut(const std::string& head, std::span<const int64_t> ranks, int64_t own,
                         const RankStatusQuery& rank_status, const ReportedCall& about) {
  const std::string kept =
      keep_report(own, head + ranks_text(ranks, rank_status, about, ReportExtent::kAll) + "\n");
  return head + ranks_text(ranks, rank_status, about, ReportExtent::kScreen) + kept;
}

}  // namespace

std::string ranks_report(const std::string& head, std::span<const int64_t> ranks, int64_t own,
                         const RankStatusQuery& rank_status) {
  return kept_and_cut(head, ranks, own, rank_status, {});
}

std::string late_report(const CollectiveCall& call, std::chrono::milliseconds deadline,
                        const RankStatusQuery& rank_status) {
  const std::string head =
      fmt::format("Timed out after {:g} s in {}.", static_cast<double>(deadline.count()) / 1000,
                  call.to_string());
  const char* all =
      all_have_reached(call, rank_status)
          ? " All ranks have entered it; messages do not progress while a rank is outside any call."
          : "";
  return kept_and_cut(head + all, call.group->ranks(), rank_of(call), rank_status,
                      {.call = &call, .marks_missing = true});
}

std::string left_report(const CollectiveCall& call, const RankStatusQuery& rank_status) {
  const auto ranks = call.group->ranks();
  const auto left = std::ranges::find_if(ranks, [&](int64_t rank) {
    const RankStatus status = rank_status(rank);
    return status.has_left && status.flight_recorder != nullptr &&
           status.flight_recorder->is_before(call.group->hash(), call.sequence);
  });
  if (left == ranks.end()) return {};
  const std::string head =
      fmt::format("Rank {} has left the job without {}, which every rank of the group must call.",
                  *left, call.to_string());
  return kept_and_cut(head, ranks, rank_of(call), rank_status,
                      {.call = &call, .marks_missing = true});
}

std::string mismatch_report(const CollectiveCall& call, std::string_view what,
                            const RankStatusQuery& rank_status) {
  return kept_and_cut(std::string(what), call.group->ranks(), rank_of(call), rank_status,
                      {.call = &call});
}

}  // namespace phi::distributed
