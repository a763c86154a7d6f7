// The end of a run: moves every kept value to where it was when the run began.
#include <algorithm>

#include "phi/common/errors.h"
#include "phi/memory/plan/swap_planner.h"

namespace phi::memory {

// The caller sets inputs again before each run, so they need room at the end of a run.
void SwapPlanner::reserve_inputs() {
  const int32_t last_use = 2 * index_.num_steps();
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    if (!index_.given(b) || index_.keep(b)) continue;
    const int64_t bytes = occupied_bytes(Tier::kHost, index_.nbytes(b));
    const auto try_on = [&](Tier tier) {
      return below_.make_room(tier, bytes, last_use, true, next_launch(), now_) &&
             below_.hold_at_start(b, tier);
    };
    if (!try_on(Tier::kHost) && !try_on(Tier::kDisk)) fail(b);
  }
}

void SwapPlanner::restore_start() {
  go_home();
  leave_device();
  fetch_home();
  make_way_below(Tier::kHost);
  make_way_below(Tier::kDisk);
  // Several rounds, because making room for one value may displace another.
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    // Values that leave the host first, to make room for those that come to it.
    for (const bool to_host : {false, true}) {
      for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
        if (!index_.given(b) || !index_.keep(b)) continue;
        if (start_[static_cast<size_t>(b)].host == to_host) restore_below(b);
      }
    }
  }
  check_restored();
}

// Kept values that are not given may end anywhere, except where the next run's start needs the
// room.
void SwapPlanner::make_way_below(Tier tier) {
  const auto starts_on = [&](SwapBufferId b) {
    const SwapResidence& at = start_[static_cast<size_t>(b)];
    return tier == Tier::kHost ? at.host : at.disk;
  };
  const Tier other = tier == Tier::kHost ? Tier::kDisk : Tier::kHost;
  int64_t excess = -options_.limits.of(tier);
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    const bool result = !index_.given(b) && below_.holds(b, tier);
    if (starts_on(b) || result) excess += occupied_bytes(tier, index_.nbytes(b));
  }
  for (SwapBufferId b = 0; b < index_.num_buffers() && excess > 0; ++b) {
    if (index_.given(b) || !below_.holds(b, tier)) continue;
    if (is_resident(b) || below_.holds(b, other)) {
      below_.drop(b, tier, next_launch());
    } else if (below_.copy_between(b, tier, other, true, next_launch(), now_) ==
               LowerTiers::kNone) {
      continue;
    }
    excess -= occupied_bytes(tier, index_.nbytes(b));
  }
}

void SwapPlanner::check_restored() const {
  const std::vector<SwapResidence> now = residences();
  std::array<int64_t, kNumTiers> inputs{};
  for (SwapBufferId b = 0; static_cast<size_t>(b) < now.size(); ++b) {
    const SwapResidence& target = start_[static_cast<size_t>(b)];
    const int64_t bytes = occupied_bytes(Tier::kHost, index_.nbytes(b));
    if (!index_.given(b)) continue;
    if (index_.keep(b)) {
      PHI_CHECK(
          now[static_cast<size_t>(b)] == target,
          errors::ResourceExhausted("{} cannot return to its place between two runs: host and "
                                    "disk are too full. Raise a limit.",
                                    index_.describe_buffer(b)));
    } else {
      inputs[static_cast<size_t>(Tier::kHost)] += target.host ? bytes : 0;
      inputs[static_cast<size_t>(Tier::kDisk)] += target.disk ? bytes : 0;
    }
  }
  for (Tier tier : {Tier::kHost, Tier::kDisk}) {
    PHI_CHECK(below_.available(tier) >= inputs[static_cast<size_t>(tier)],
              errors::ResourceExhausted("the run's inputs need {} bytes on the {} when a run ends, "
                                        "{} are free. Raise its limit.",
                                        inputs[static_cast<size_t>(tier)], name_of(tier),
                                        below_.available(tier)));
  }
}

void SwapPlanner::go_home() {
  for (bool moved = true; moved;) {
    moved = false;
    for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
      const int64_t target = home(b);
      if (target < 0 || !is_resident(b) || offset_of(b) == target) continue;
      if (!arena_.is_free(target, index_.size(b))) continue;
      move(b, target);
      moved = true;
    }
  }
}

bool SwapPlanner::is_in_the_way(SwapBufferId buffer) const {
  const int64_t begin = offset_of(buffer), end = begin + index_.size(buffer);
  if (index_.given(buffer)) return begin != home(buffer);
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    const int64_t target = home(b);
    if (target >= 0 && target < end && begin < target + index_.size(b)) return true;
  }
  return false;
}

void SwapPlanner::leave_device() {
  std::vector<SwapBufferId> leaving;
  for (int32_t at = arena_.first(); at != kNone; at = arena_.segment(at).next) {
    const SwapBufferId tenant = arena_.segment(at).tenant;
    if (tenant != kNone && is_in_the_way(tenant)) leaving.push_back(tenant);
  }
  for (SwapBufferId b : leaving) evict_towards(b, start_[static_cast<size_t>(b)]);
}

void SwapPlanner::evict_towards(SwapBufferId buffer, const SwapResidence& target) {
  if (!below_.holds(buffer) && (target.host || target.disk)) {
    SwapAction action{.buffer = buffer, .from_offset = offset_of(buffer), .issue = next_launch()};
    if (state(buffer).last != kNone) action.after.push_back(state(buffer).last);
    const int32_t stored =
        below_.store_on(target.host ? Tier::kHost : Tier::kDisk, std::move(action), now_);
    if (stored != LowerTiers::kNone) state(buffer).last = stored;
  }
  if (!evict(buffer)) fail(buffer);
}

void SwapPlanner::fetch_home() {
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    if (home(b) < 0 || !index_.keep(b) || is_resident(b)) continue;
    settle_at(b, home(b));
    fetch(b);
  }
}

void SwapPlanner::restore_below(SwapBufferId buffer) {
  const SwapResidence& target = start_[static_cast<size_t>(buffer)];
  const auto wants = [&](Tier tier) { return tier == Tier::kHost ? target.host : target.disk; };
  for (Tier tier : {Tier::kHost, Tier::kDisk}) {
    if (!wants(tier) || below_.holds(buffer, tier)) continue;
    const Tier other = tier == Tier::kHost ? Tier::kDisk : Tier::kHost;
    if (below_.holds(buffer, other)) {
      below_.copy_between(buffer, other, tier, !wants(other), next_launch(), now_);
    } else if (is_resident(buffer)) {
      SwapAction action{.buffer = buffer, .from_offset = offset_of(buffer), .issue = next_launch()};
      if (state(buffer).last != kNone) action.after.push_back(state(buffer).last);
      const int32_t stored = below_.store_on(tier, std::move(action), now_);
      if (stored != LowerTiers::kNone) state(buffer).last = stored;
    }
  }
  for (Tier tier : {Tier::kHost, Tier::kDisk}) {
    const bool elsewhere = is_resident(buffer) ||
                           below_.holds(buffer, tier == Tier::kHost ? Tier::kDisk : Tier::kHost);
    if (!wants(tier) && below_.holds(buffer, tier) && elsewhere) {
      below_.drop(buffer, tier, next_launch());
    }
  }
}

std::vector<SwapResidence> SwapPlanner::residences() const {
  std::vector<SwapResidence> all(index_.program().buffers.size());
  for (SwapBufferId b = 0; static_cast<size_t>(b) < all.size(); ++b) {
    all[static_cast<size_t>(b)] = {is_resident(b) ? offset_of(b) : -1, below_.holds(b, Tier::kHost),
                                   below_.holds(b, Tier::kDisk)};
  }
  return all;
}

}  // namespace phi::memory
