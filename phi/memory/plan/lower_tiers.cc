// Planner state of the host and disk tiers.
#include "phi/memory/plan/lower_tiers.h"

#include <algorithm>
#include <utility>

namespace phi::memory {

LowerTiers::LowerTiers(const ProgramIndex& index, const UseClock& clock, TransferLog& log,
                       const MemoryLimits& limits)
    : index_(index),
      clock_(clock),
      log_(log),
      pools_{TierPool(limits.host_bytes), TierPool(limits.disk_bytes)},
      on_device_(static_cast<size_t>(index.num_buffers()), false),
      earliest_on_disk_(std::numeric_limits<int32_t>::max()) {
  for (auto& copies : copies_) copies.resize(static_cast<size_t>(index.num_buffers()));
}

void LowerTiers::add_copy(SwapBufferId buffer, Tier tier, int32_t action) {
  auto& held = held_[static_cast<size_t>(tier) - 1];
  copy(buffer, tier) = {true, action, static_cast<int32_t>(held.size())};
  held.push_back(buffer);
}

void LowerTiers::remove_copy(SwapBufferId buffer, Tier tier) {
  auto& held = held_[static_cast<size_t>(tier) - 1];
  const int32_t place = copy(buffer, tier).listed;
  held[static_cast<size_t>(place)] = held.back();
  copy(held.back(), tier).listed = place;
  held.pop_back();
  copy(buffer, tier) = {};
  if (tier == Tier::kHost) note_on_disk(buffer);
}

void LowerTiers::note_on_disk(SwapBufferId buffer) {
  if (holds(buffer, Tier::kHost) || !holds(buffer, Tier::kDisk)) return;
  earliest_on_disk_ = std::min(earliest_on_disk_, clock_.next_use(buffer));
}

int32_t LowerTiers::take_earliest_on_disk() {
  return std::exchange(earliest_on_disk_, std::numeric_limits<int32_t>::max());
}

bool LowerTiers::hold_at_start(SwapBufferId buffer, Tier tier) {
  const int64_t bytes = bytes_of(buffer);
  if (pool(tier).available() < bytes) return false;
  std::vector<int32_t> none;
  pool(tier).reserve(
      bytes, [](int32_t) { return true; }, &none);
  add_copy(buffer, tier, kNone);
  return true;
}

int32_t LowerTiers::store(SwapAction from_device, double now) {
  const SwapBufferId buffer = from_device.buffer;
  const int64_t bytes = bytes_of(buffer);
  const int32_t use = clock_.next_use(buffer);
  const int32_t issue = from_device.issue;
  if (make_room(Tier::kHost, bytes, use, false, issue, now)) {
    return store_on(Tier::kHost, std::move(from_device), now);
  }
  if (make_room(Tier::kDisk, bytes, use, true, issue, now)) {
    return store_on(Tier::kDisk, std::move(from_device), now);
  }
  if (make_room(Tier::kHost, bytes, use, true, issue, now)) {
    return store_on(Tier::kHost, std::move(from_device), now);
  }
  return kNone;
}

int32_t LowerTiers::store_on(Tier tier, SwapAction from_device, double now) {
  const SwapBufferId buffer = from_device.buffer;
  const int32_t issue = from_device.issue;
  if (!make_room(tier, bytes_of(buffer), clock_.next_use(buffer), true, issue, now)) return kNone;
  from_device.from = Tier::kDevice;
  from_device.to = tier;
  pool(tier).reserve(
      bytes_of(buffer), [&](int32_t a) { return log_.is_settled(a, issue); }, &from_device.after);
  const int32_t action = log_.add(std::move(from_device), index_.nbytes(buffer), now);
  add_copy(buffer, tier, action);
  note_on_disk(buffer);
  return action;
}

int32_t LowerTiers::fetch(SwapAction to_device, double now) {
  const SwapBufferId buffer = to_device.buffer;
  to_device.from = source(buffer);
  to_device.to = Tier::kDevice;
  Copy& from = copy(buffer, to_device.from);
  if (from.last != kNone) to_device.after.push_back(from.last);
  from.last = log_.add(std::move(to_device), index_.nbytes(buffer), now);
  return from.last;
}

int32_t LowerTiers::copy_between(SwapBufferId buffer, Tier from, Tier to, bool release_source,
                                 int32_t issue, double now) {
  const int64_t bytes = bytes_of(buffer);
  if (!make_room(to, bytes, clock_.next_use(buffer), true, issue, now)) return kNone;
  SwapAction action{.from = from, .to = to, .buffer = buffer, .issue = issue};
  if (copy(buffer, from).last != kNone) action.after.push_back(copy(buffer, from).last);
  pool(to).reserve(
      bytes, [&](int32_t a) { return log_.is_settled(a, issue); }, &action.after);
  const int32_t index = log_.add(std::move(action), index_.nbytes(buffer), now);
  copy(buffer, from).last = index;
  add_copy(buffer, to, index);
  if (release_source) drop(buffer, from, issue);
  return index;
}

bool LowerTiers::promote(SwapBufferId buffer, int32_t issue, double now) {
  const int32_t use = clock_.next_use(buffer);
  if (!make_room(Tier::kHost, bytes_of(buffer), use, false, issue, now)) return false;
  return copy_between(buffer, Tier::kDisk, Tier::kHost, false, issue, now) != kNone;
}

bool LowerTiers::can_drop(SwapBufferId buffer, Tier tier, int32_t issue) const {
  const int32_t last = copy(buffer, tier).last;
  return last == kNone || log_.is_settled(last, issue) || log_.at(last).from == tier;
}

void LowerTiers::drop(SwapBufferId buffer, Tier tier, int32_t issue) {
  const int32_t last = copy(buffer, tier).last;
  const bool settled = last == kNone || log_.is_settled(last, issue);
  int32_t end = TierPool::kNow;
  if (!settled && log_.at(last).from == tier) {
    log_.at(last).release_source = true;
    end = last;
  } else {
    SwapAction drop{
        .kind = SwapAction::Kind::kDrop, .from = tier, .buffer = buffer, .issue = issue};
    if (!settled) drop.after.push_back(last);
    const int32_t action = log_.add(std::move(drop), 0, 0);
    if (!settled) end = action;
  }
  pool(tier).release(bytes_of(buffer), end);
  remove_copy(buffer, tier);
}

void LowerTiers::drop_all(SwapBufferId buffer, int32_t issue) {
  for (Tier tier : {Tier::kHost, Tier::kDisk}) {
    if (holds(buffer, tier)) drop(buffer, tier, issue);
  }
}

bool LowerTiers::make_room(Tier tier, int64_t bytes, int32_t next_use, bool insist, int32_t issue,
                           double now) {
  if (pool(tier).limit() < bytes) return false;
  while (pool(tier).available() < bytes) {
    if (!make_one_way(tier, next_use, insist, issue, now)) return false;
  }
  return true;
}

double LowerTiers::readiness(SwapBufferId buffer, Tier tier, int32_t next_use, bool insist,
                             int32_t issue) const {
  const Tier other = tier == Tier::kHost ? Tier::kDisk : Tier::kHost;
  const bool spare = on_device_[static_cast<size_t>(buffer)] || holds(buffer, other);
  if (spare && !can_drop(buffer, tier, issue)) return 0;
  const BufferUse* next = clock_.next_access(buffer);
  const int32_t use = clock_.next_use(buffer);
  // Groups in descending order of priority; within each the farthest use comes first.
  const double far = static_cast<double>(use) / (2.0 * index_.num_steps() + 1);
  if (on_device_[static_cast<size_t>(buffer)] && next && next->access != BufferAccess::kRead) {
    return 4 + far;  // the device changes the value next, which invalidates this copy
  }
  if (spare && holds(buffer, other)) return insist || use > next_use ? 3 + far : 0;
  if (spare) return 2 + far;
  const bool can_sink =
      tier == Tier::kHost && use > next_use && available(Tier::kDisk) >= bytes_of(buffer);
  return can_sink ? 1 + far : 0;
}

bool LowerTiers::make_one_way(Tier tier, int32_t next_use, bool insist, int32_t issue, double now) {
  // With many copies each call examines only some of them, in rotation.
  constexpr size_t kEnough = 1024;
  const auto& held = held_[static_cast<size_t>(tier) - 1];
  size_t& turn = turn_[static_cast<size_t>(tier) - 1];
  SwapBufferId best = kNone;
  double best_readiness = 0;
  for (size_t i = 0; i < held.size() && (i < kEnough || best == kNone); ++i) {
    turn = turn + 1 < held.size() ? turn + 1 : 0;
    const double ready = readiness(held[turn], tier, next_use, insist, issue);
    if (ready > best_readiness) {
      best = held[turn];
      best_readiness = ready;
    }
  }
  if (best == kNone) return false;
  if (best_readiness >= 2) {
    drop(best, tier, issue);
    return true;
  }
  return copy_between(best, Tier::kHost, Tier::kDisk, true, issue, now) != kNone;
}

}  // namespace phi::memory
