// Makes room on the device: placement, eviction, compaction.
#include <algorithm>

#include "phi/common/errors.h"
#include "phi/memory/plan/swap_planner.h"

namespace phi::memory {

bool SwapPlanner::place(SwapBufferId buffer, const Need& need) {
  const int64_t offset = home_or_fit(buffer, need);
  if (offset < 0) return false;
  settle_at(buffer, offset);
  return true;
}

void SwapPlanner::settle_at(SwapBufferId buffer, int64_t offset) {
  state(buffer).segment = arena_.occupy(offset, index_.size(buffer), buffer);
  state(buffer).written = false;
  below_.set_on_device(buffer, true);
  list_use(buffer);
  int64_t used = options_.limits.device_bytes / kDeviceAlignment * kDeviceAlignment;
  used -= arena_.free_bytes();
  peak_device_ = std::max(peak_device_, used);
}

int64_t SwapPlanner::home_or_fit(SwapBufferId buffer, const Need& need) {
  const int64_t size = index_.size(buffer);
  const bool next_run = !need.now && need.use >= index_.num_steps();
  if (home(buffer) >= 0 && (arena_.is_free(home(buffer), size) || clear_home(buffer, need))) {
    return home(buffer);
  }
  if (options_.steady && next_run) return -1;
  // Kept values at the low end, others at the high end, so that short-lived values leave few holes.
  const ArenaMap::End end = index_.keep(buffer) ? ArenaMap::End::kLow : ArenaMap::End::kHigh;
  int64_t offset = arena_.best_fit(size, end);
  if (offset < 0) offset = clear_window(size, need);
  if (offset < 0 && need.now) offset = compact(size);
  return offset;
}

// Clears the buffer's home offset only for its last use in this run, or for the next run. Evicts
// only buffers that this run no longer uses, which would have to leave anyway.
bool SwapPlanner::clear_home(SwapBufferId buffer, const Need& need) {
  const int64_t begin = home(buffer), end = begin + index_.size(buffer);
  const BufferUse* next = clock_.next_access(buffer);
  if (next && next != &index_.uses(buffer).back()) return false;
  for (int32_t at = arena_.segment_at(begin); at != kNone && arena_.segment(at).offset < end;
       at = arena_.segment(at).next) {
    const ArenaMap::Segment& segment = arena_.segment(at);
    const bool inside = segment.tenant != kNone && segment.offset + segment.size > begin;
    if (inside && clock_.next_use(segment.tenant) < index_.num_steps()) return false;
  }
  return clear_range(begin, end, need);
}

bool SwapPlanner::may_evict(SwapBufferId buffer, const Need& need) const {
  if (state(buffer).pinned_at == next_launch()) return false;
  return need.now || clock_.next_use(buffer) > need.use;
}

double SwapPlanner::harm_of_evicting(SwapBufferId buffer) const {
  const int64_t nbytes = index_.nbytes(buffer);
  double seconds = options_.costs.seconds(Tier::kHost, Tier::kDevice, nbytes);
  if (below_.holds(buffer)) {
    seconds = options_.costs.seconds(below_.source(buffer), Tier::kDevice, nbytes);
  } else if (state(buffer).written) {
    seconds *= 2;
  }
  constexpr double kSoonest = 1e-12;
  return seconds / std::max(clock_.seconds_until(clock_.next_use(buffer)), kSoonest);
}

void SwapPlanner::list_use(SwapBufferId buffer) {
  unlist_use(buffer);
  if (!is_resident(buffer)) return;
  state(buffer).listed_use = clock_.next_use(buffer);
  by_use_.emplace(state(buffer).listed_use, buffer);
}

void SwapPlanner::unlist_use(SwapBufferId buffer) {
  by_use_.erase({state(buffer).listed_use, buffer});
  state(buffer).listed_use = kNone;
}

/// Infinite if the tenant may not be evicted.
double SwapPlanner::harm_of_clearing(int32_t segment, const Need& need) const {
  const SwapBufferId tenant = arena_.segment(segment).tenant;
  if (tenant == kNone) return 0;
  if (!may_evict(tenant, need)) return std::numeric_limits<double>::infinity();
  return harm_of_evicting(tenant);
}

SwapPlanner::Window SwapPlanner::window_around(int32_t segment, int64_t size,
                                               const Need& need) const {
  Window window{segment, segment, harm_of_clearing(segment, need)};
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (int64_t bytes = arena_.segment(segment).size; bytes < size;) {
    const int32_t before = arena_.segment(window.first).previous;
    const int32_t behind = arena_.segment(window.last).next;
    const double left = before == kNone ? kNever : harm_of_clearing(before, need);
    const double right = behind == kNone ? kNever : harm_of_clearing(behind, need);
    window.harm += std::min(left, right);
    if (window.harm == kNever) return {};
    int32_t& end = left < right ? window.first : window.last;
    end = left < right ? before : behind;
    bytes += arena_.segment(end).size;
  }
  return window;
}

SwapPlanner::Window SwapPlanner::window_of_farthest(int64_t size, const Need& need) const {
  constexpr int kMostTried = 32;
  Window best;
  int tried = 0;
  for (auto at = by_use_.rbegin(); at != by_use_.rend() && tried < kMostTried; ++at, ++tried) {
    if (!need.now && at->first <= need.use) break;
    const Window window = window_around(state(at->second).segment, size, need);
    if (window.harm < best.harm) best = window;
  }
  return best;
}

// Exhaustive search.
SwapPlanner::Window SwapPlanner::best_window(int64_t size, const Need& need) const {
  Window best;
  std::vector<std::pair<int32_t, double>> inside;  // segments from left to right, and their harm
  size_t left = 0;
  int64_t bytes = 0;
  double harm = 0;
  for (int32_t at = arena_.first(); at != kNone; at = arena_.segment(at).next) {
    const double here = harm_of_clearing(at, need);
    if (here == std::numeric_limits<double>::infinity()) {
      left = inside.size();
      bytes = 0;
      harm = 0;
      continue;
    }
    inside.emplace_back(at, here);
    bytes += arena_.segment(at).size;
    harm += here;
    while (bytes - arena_.segment(inside[left].first).size >= size) {
      bytes -= arena_.segment(inside[left].first).size;
      harm -= inside[left++].second;
    }
    if (bytes >= size && harm < best.harm) best = {inside[left].first, at, harm};
  }
  return best;
}

int64_t SwapPlanner::clear_window(int64_t size, const Need& need) {
  Window window = window_of_farthest(size, need);
  if (window.first == kNone && need.now) window = best_window(size, need);
  if (window.first == kNone) return -1;
  const ArenaMap::Segment first = arena_.segment(window.first);
  const ArenaMap::Segment last = arena_.segment(window.last);
  const int64_t end = last.offset + last.size;
  if (!clear_range(first.offset, end, need)) return -1;
  return first.tenant == kNone ? end - size : first.offset;
}

bool SwapPlanner::clear_range(int64_t begin, int64_t end, const Need& need) {
  std::vector<SwapBufferId> tenants;
  for (int32_t at = arena_.segment_at(begin); at != kNone; at = arena_.segment(at).next) {
    const ArenaMap::Segment& segment = arena_.segment(at);
    if (segment.offset >= end) break;
    if (segment.tenant == kNone) continue;
    if (!may_evict(segment.tenant, need)) return false;
    tenants.push_back(segment.tenant);
  }
  return std::all_of(tenants.begin(), tenants.end(), [&](SwapBufferId b) { return evict(b); });
}

bool SwapPlanner::evict(SwapBufferId buffer) {
  State& at = state(buffer);
  if (at.written && !below_.holds(buffer)) {
    if (options_.recompute && can_recompute(buffer)) {
      drop_for_recompute(buffer);
    } else {
      const int64_t begin = offset_of(buffer);
      SwapAction action{.buffer = buffer, .from_offset = begin, .issue = next_launch()};
      if (at.last != kNone) action.after.push_back(at.last);
      const int32_t stored = below_.store(std::move(action), now_);
      if (stored == LowerTiers::kNone) return false;
      at.last = stored;
    }
  }
  ahead_ = std::min(ahead_, clock_.next_use(buffer));
  leave(buffer);
  return true;
}

void SwapPlanner::leave(SwapBufferId buffer) {
  State& at = state(buffer);
  const int64_t begin = offset_of(buffer);
  if (at.last != kNone) add_busy(begin, begin + index_.size(buffer), at.last);
  arena_.release(at.segment);
  unlist_use(buffer);
  at.segment = kNone;
  at.last = kNone;
  at.written = false;
  below_.set_on_device(buffer, false);
}

int64_t SwapPlanner::compact(int64_t size) {
  if (!evict_for_total(size)) return -1;
  std::vector<SwapBufferId> tenants;
  for (int32_t at = arena_.first(); at != kNone; at = arena_.segment(at).next) {
    if (arena_.segment(at).tenant != kNone) tenants.push_back(arena_.segment(at).tenant);
  }
  int64_t end = 0;
  for (SwapBufferId tenant : tenants) {
    if (offset_of(tenant) - end >= size) return end;
    if (offset_of(tenant) > end) move(tenant, end);
    end += index_.size(tenant);
  }
  return end;
}

bool SwapPlanner::evict_for_total(int64_t size) {
  std::vector<std::pair<double, SwapBufferId>> victims;
  for (int32_t at = arena_.first(); at != kNone; at = arena_.segment(at).next) {
    const SwapBufferId tenant = arena_.segment(at).tenant;
    if (tenant == kNone || !may_evict(tenant, {.now = true})) continue;
    victims.emplace_back(harm_of_evicting(tenant) / static_cast<double>(index_.size(tenant)),
                         tenant);
  }
  std::sort(victims.begin(), victims.end());
  for (const auto& [harm, victim] : victims) {
    if (arena_.free_bytes() >= size) break;
    evict(victim);
  }
  return arena_.free_bytes() >= size;
}

void SwapPlanner::move(SwapBufferId buffer, int64_t offset) {
  State& at = state(buffer);
  const int64_t size = index_.size(buffer);
  const int64_t old = offset_of(buffer);
  if (at.written) {
    SwapAction action{
        .buffer = buffer, .from_offset = old, .to_offset = offset, .issue = next_launch()};
    action.after = busy_actions(offset, offset + size);
    if (at.last != kNone) action.after.push_back(at.last);
    at.last = log_.add(std::move(action), index_.nbytes(buffer), now_);
    add_busy(old, old + size, at.last);
  }
  arena_.release(at.segment);
  at.segment = arena_.occupy(offset, size, buffer);
}

void SwapPlanner::fail(SwapBufferId buffer) const {
  int64_t values = 0;
  for (SwapBufferId b = 0; b < index_.num_buffers(); ++b) {
    const bool alive = state(b).written || below_.holds(b);
    if (alive && clock_.is_needed(b)) values += occupied_bytes(Tier::kHost, index_.nbytes(b));
  }
  const MemoryLimits& limits = options_.limits;
  throw errors::ResourceExhausted(
      "{} finds no room on the device for {} ({} bytes): the values to swap out fit neither on the "
      "host nor on the disk. Here {} bytes of values are alive; the device is limited to {} bytes, "
      "the host to {} ({} free), the disk to {} ({} free). Raise the host's or the disk's limit.",
      clock_.step() < index_.num_steps() ? index_.describe_step(clock_.step()) : "the end of a run",
      index_.describe_buffer(buffer), index_.nbytes(buffer), values, limits.device_bytes,
      limits.host_bytes, below_.available(Tier::kHost), limits.disk_bytes,
      below_.available(Tier::kDisk));
}

void SwapPlanner::add_busy(int64_t begin, int64_t end, int32_t action) {
  // Settles the oldest transfers to keep the list short. They are complete by now, so the wait is
  // free.
  constexpr size_t kMost = 256;
  if (busy_.size() >= kMost) {
    for (size_t i = 0; i < kMost / 2; ++i) log_.settle(busy_[i].action, next_launch());
    busy_.erase(busy_.begin(), busy_.begin() + kMost / 2);
  }
  busy_.push_back({begin, end, action});
}

std::vector<int32_t> SwapPlanner::busy_actions(int64_t begin, int64_t end) {
  std::erase_if(busy_,
                [&](const Busy& busy) { return log_.is_settled(busy.action, next_launch()); });
  std::vector<int32_t> actions;
  for (const Busy& busy : busy_) {
    if (busy.begin < end && begin < busy.end) actions.push_back(busy.action);
  }
  return actions;
}

}  // namespace phi::memory
