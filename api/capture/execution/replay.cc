// Captures segments of a program into graphs and launches them.
#include "api/capture/execution/replay.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "api/call/launch_step.h"
#include "api/call/suppress_combines.h"
#include "api/capture/recording.h"
#include "distributed/reshard/captured_steps.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

// The launch of a graph costs the host as much as launches of a few kernels.
constexpr size_t kFewestSteps = 3;
// A segment whose buffers move in each run costs more to capture than to run.
constexpr int kMostUnused = 4;

// The traffic between two states of a rank's counters.
Counters traffic_since(const Counters& before, const Counters& now) {
  Counters counted;
  counted.reshard_steps = now.reshard_steps - before.reshard_steps;
  counted.bytes_sent = now.bytes_sent - before.bytes_sent;
  counted.bytes_received = now.bytes_received - before.bytes_received;
  for (size_t i = 0; i < counted.traffic.size(); ++i) {
    counted.traffic[i].messages = now.traffic[i].messages - before.traffic[i].messages;
    counted.traffic[i].bytes = now.traffic[i].bytes - before.traffic[i].bytes;
  }
  return counted;
}

void add_traffic(const Counters& more, Counters* counters) {
  counters->reshard_steps += more.reshard_steps;
  counters->bytes_sent += more.bytes_sent;
  counters->bytes_received += more.bytes_received;
  for (size_t i = 0; i < more.traffic.size(); ++i) {
    counters->traffic[i].messages += more.traffic[i].messages;
    counters->traffic[i].bytes += more.traffic[i].bytes;
  }
}

}  // namespace

std::vector<ReplayStep> replay_steps(const std::vector<ir::RecordedStep>& steps) {
  std::vector<ReplayStep> found;
  std::unordered_map<const void*, size_t> halves;
  for (size_t at = 0; at < steps.size(); ++at) {
    const Step& step = *steps[at].step;
    found.push_back({.is_repeatable = step.is_repeatable(),
                     .has_messages = step.has_messages(),
                     .is_kernel = dynamic_cast<const detail::LaunchStep*>(&step) != nullptr,
                     .other_half = static_cast<int64_t>(at)});
    const auto* half = dynamic_cast<const distributed::ReshardPhaseStep*>(&step);
    if (!half) continue;
    const auto [other, is_first] = halves.emplace(half->transfer_id(), at);
    found[at].other_half = is_first ? -1 : static_cast<int64_t>(other->second);
    if (!is_first) found[other->second].other_half = static_cast<int64_t>(at);
  }
  return found;
}

Replay::Replay(Device& device, std::vector<ReplayStep> steps, std::unique_ptr<ReplayRanks> ranks)
    : device_(device), steps_(std::move(steps)), ranks_(std::move(ranks)) {
  find_segments();
}

// ---- segments ----

bool Replay::belongs(size_t step) const {
  const ReplayStep& which = steps_[step];
  return which.is_repeatable || (ranks_ && which.has_messages && !which.waits);
}

// Whether a transfer starts in this segment and finishes outside of it, or the reverse. The program
// owns the state of such a transfer, so no graph may contain one half of it.
bool Replay::has_half_transfer(const GraphSegment& segment) const {
  for (size_t at = segment.begin; at < segment.end; ++at) {
    const int64_t other = steps_[at].other_half;
    const bool is_inside =
        other >= static_cast<int64_t>(segment.begin) && other < static_cast<int64_t>(segment.end);
    if (steps_[at].has_messages && !is_inside) return true;
  }
  return false;
}

void Replay::find_segments() {
  std::vector<GraphSegment> known = std::exchange(segments_, {});
  for (size_t begin = 0; begin < steps_.size();) {
    size_t end = begin;
    while (end < steps_.size() && belongs(end)) ++end;
    const bool has_messages = std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(begin),
                                          steps_.begin() + static_cast<std::ptrdiff_t>(end),
                                          [](const ReplayStep& step) { return step.has_messages; });
    if (end - begin >= kFewestSteps || has_messages) {
      const auto same = std::find_if(known.begin(), known.end(), [&](const GraphSegment& segment) {
        return segment.begin == begin && segment.end == end;
      });
      segments_.push_back(same != known.end() ? std::move(*same)
                                              : GraphSegment{begin, end, has_messages});
    }
    begin = end + 1;
  }
  messages_belong_ = all_messages_belong();
  changed_ = false;
}

void Replay::leave_out(size_t begin, size_t end) {
  for (size_t at = begin; at < end; ++at) steps_[at].is_repeatable = false;
  changed_ = true;
}

// Runs the step without its messages.
void Replay::try_step(size_t at, const RunStep& step) const {
  if (!steps_[at].has_messages) return step(at);
  const SuppressCombines silence;
  if (steps_[at].is_kernel) step(at);
}

// Captures the steps of a segment without their messages. Returns null if the device refuses.
std::unique_ptr<LaunchGraph> Replay::try_out(const GraphSegment& segment, const RunStep& step) {
  size_t at = segment.begin;
  auto record = device_.capture([&] {
    for (at = segment.begin; at < segment.end; ++at) try_step(at, step);
  });
  if (record) return record;
  // If no single step was refused, their combination was: one frees memory that another allocated.
  if (at < segment.end) {
    steps_[at].waits = true;
    leave_out(at, at + 1);
  } else {
    leave_out(segment.begin, segment.end);
  }
  return nullptr;
}

bool Replay::is_found_ready(GraphSegment& segment, const RunStep& step, const Locate& locate) {
  std::optional<Addresses> addresses = locate(segment.begin, segment.end);
  if (!addresses) return false;
  if (segment.record && segment.addresses == *addresses) {
    segment.unused = 0;
    return true;
  }
  segment.record = nullptr;  // frees its memory for the new one
  if (segment.unused++ == kMostUnused) {
    leave_out(segment.begin, segment.end);
    return false;
  }
  segment.addresses = std::move(*addresses);
  segment.record = try_out(segment, step);
  return segment.record != nullptr;
}

// ---- messages ----

bool Replay::all_messages_belong() const {
  for (size_t at = 0; at < steps_.size(); ++at) {
    if (steps_[at].has_messages && !belongs(at)) return false;
  }
  return std::none_of(segments_.begin(), segments_.end(),
                      [this](const GraphSegment& segment) { return has_half_transfer(segment); });
}

Replay::ReplayMode Replay::own_mode(const Locate& locate) {
  if (!messages_belong_ || !ranks_->are_connected()) return ReplayMode::kNeverLaunched;
  ReplayMode mode = ReplayMode::kNoMessages;
  for (const GraphSegment& segment : segments_) {
    if (!segment.has_messages) continue;
    const std::optional<Addresses> addresses = locate(segment.begin, segment.end);
    if (!addresses || !segment.is_tried) {
      mode = std::min(mode, ReplayMode::kByStep);
    } else if (segment.record && segment.addresses == *addresses) {
      mode = std::min(mode, ReplayMode::kLaunched);
    } else if (segment.unused > kMostUnused) {
      return ReplayMode::kNeverLaunched;
    } else {
      mode = std::min(mode, ReplayMode::kCaptured);
    }
  }
  return mode;
}

void Replay::agree(ReplayMode own) {
  mode_ = static_cast<ReplayMode>(ranks_->least(static_cast<int64_t>(own)));
  const bool is_over = mode_ == ReplayMode::kNeverLaunched || mode_ == ReplayMode::kNoMessages;
  if (!is_over) return;
  ranks_ = nullptr;
  find_segments();
}

void Replay::skip_run() {
  if (ranks_) agree(ReplayMode::kByStep);
}

void Replay::capture_with_messages(GraphSegment& segment, const RunStep& step,
                                   const Locate& locate) {
  segment.record = nullptr;  // frees its memory for the new one
  ++segment.unused;
  segment.addresses = *locate(segment.begin, segment.end);
  Counters& counters = RankContext::current().counters();
  const Counters before = counters;
  try {
    segment.record = ranks_->record([&] {
      for (size_t at = segment.begin; at < segment.end; ++at) step(at);
    });
  } catch (Error& error) {
    error.note(
        "the steps of a captured program were captured into a graph; program.use_graphs(false) on "
        "all ranks runs them one by one");
    throw;
  }
  segment.counted = traffic_since(before, counters);
  counters = before;  // the capture has sent nothing; the launch counts the traffic
}

// Prepares the segment and returns whether it can be launched. For a segment with messages, all
// ranks have agreed on the result (mode_).
bool Replay::is_ready(GraphSegment& segment, const RunStep& step, const Locate& locate) {
  if (!segment.has_messages) return is_found_ready(segment, step, locate);
  switch (mode_) {
    case ReplayMode::kLaunched:
      segment.unused = 0;
      return true;
    case ReplayMode::kCaptured:
      capture_with_messages(segment, step, locate);
      return true;
    default:
      segment.is_tried = segment.is_tried || try_out(segment, step) != nullptr;
      return false;
  }
}

// ---- a run ----

void Replay::launch(GraphSegment& segment) {
  const OpScope scope("steps of a captured program");
  segment.record->launch();
  add_traffic(segment.counted, &RankContext::current().counters());
}

void Replay::run(const RunStep& step, const Locate& locate) {
  if (changed_) find_segments();
  if (ranks_) agree(own_mode(locate));
  auto segment = segments_.begin();
  for (size_t at = 0; at < steps_.size();) {
    const bool begins = segment != segments_.end() && segment->begin == at;
    if (begins && is_ready(*segment, step, locate)) {
      launch(*segment);
      at = segment->end;
    } else {
      step(at++);
    }
    if (segment != segments_.end() && at > segment->begin) ++segment;
  }
}

}  // namespace phi
