// A ring of plain calls, each behind a version count (a sequence lock), and the table of groups.
#include "distributed/comm/call_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "phi/common/process/yield_point.h"

namespace phi::distributed {

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Other processes map it into their memory.
static_assert(std::is_standard_layout_v<CallRing> && std::atomic<uint64_t>::is_always_lock_free);

template <typename T>
void CallRing::Words<T>::set(const T& value) {
  std::array<uint64_t, (sizeof(T) + 7) / 8> plain{};
  std::memcpy(plain.data(), &value, sizeof(T));
  for (size_t i = 0; i < plain.size(); ++i) words_[i].store(plain[i], std::memory_order_release);
}

template <typename T>
T CallRing::Words<T>::get() const {
  std::array<uint64_t, (sizeof(T) + 7) / 8> plain{};
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = words_[i].load(std::memory_order_acquire);
  T value;
  std::memcpy(&value, plain.data(), sizeof(T));
  return value;
}

// A reader that sees a word of this write also sees the odd version or a later one, because words
// are stored with release and loaded with acquire order. (A fence would suffice, but
// ThreadSanitizer does not support fences.)
void CallRing::Slot::set(const PlainCall& begun, CallState now) {
  const uint64_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  yield_point("call_ring.set.half");
  call.set(begun);
  started_ns.store(steady_ns(), std::memory_order_release);
  finished_ns.store(0, std::memory_order_release);
  state.store(now, std::memory_order_release);
  version.store(before + 2, std::memory_order_release);
}

bool CallRing::Slot::get(Entry* value) const {
  const uint64_t before = version.load(std::memory_order_acquire);
  *value = {call.get(), started_ns.load(std::memory_order_acquire),
            finished_ns.load(std::memory_order_acquire), state.load(std::memory_order_acquire)};
  return before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
}

bool CallRing::Slot::holds(const Call& other) const {
  static_assert(offsetof(PlainCall, group_hash) == 0 && offsetof(PlainCall, sequence) == 8);
  return call.word(1) == other.sequence && call.word(0) == other.group->hash();
}

void CallRing::note(const Call& call, CallState state) {
  const uint64_t made = made_.load(std::memory_order_relaxed);
  if (state == CallState::kFinished || came_to(call.group->hash(), call.sequence)) {
    return change(call, state);
  }
  slots_[made % kCalls].set(PlainCall::of(call), state);
  note_group(call);
  made_.store(made + 1, std::memory_order_release);
}

// The call is usually the newest. A call that has left the ring is ignored.
void CallRing::change(const Call& call, CallState state) {
  const uint64_t made = made_.load(std::memory_order_relaxed);
  for (uint64_t back = 1; back <= std::min<uint64_t>(made, kCalls); ++back) {
    Slot& slot = slots_[(made - back) % kCalls];
    if (!slot.holds(call)) continue;
    if (state == CallState::kFinished) {
      slot.finished_ns.store(steady_ns(), std::memory_order_relaxed);
    }
    return slot.state.store(state, std::memory_order_release);
  }
}

std::vector<CallRing::Entry> CallRing::calls() const {
  std::vector<Entry> out;
  const uint64_t made = made_.load(std::memory_order_acquire);
  for (uint64_t i = made - std::min<uint64_t>(made, kCalls); i < made; ++i) {
    Entry entry;
    if (slots_[i % kCalls].get(&entry)) out.push_back(entry);
  }
  return out;
}

// The group's place or the first free one; in a full table the place with which the search began.
size_t CallRing::place_of(uint64_t group_hash) const {
  const size_t home = group_hash % kPlaces;
  for (size_t i = 0; i < kPlaces; ++i) {
    const size_t at = (home + i) % kPlaces;
    const Place& place = places_[at];
    if (place.sequence.load(std::memory_order_acquire) == 0 ||
        place.group_hash.load(std::memory_order_relaxed) == group_hash) {
      return at;
    }
  }
  return home;
}

void CallRing::note_group(const Call& call) {
  Place& place = places_[place_of(call.group->hash())];
  uint64_t last = place.sequence.load(std::memory_order_relaxed);
  if (last == 0 || place.group_hash.load(std::memory_order_relaxed) != call.group->hash()) {
    Name name{};
    std::strncpy(name.text, call.group->name().c_str(), sizeof(name.text) - 1);
    place.name.set(name);
    place.group_hash.store(call.group->hash(), std::memory_order_relaxed);
    last = 0;
  }
  place.sequence.store(std::max(last, call.sequence), std::memory_order_release);
}

bool CallRing::came_to(uint64_t group_hash, uint64_t sequence) const {
  const Place& place = places_[place_of(group_hash)];
  return place.sequence.load(std::memory_order_acquire) >= sequence &&
         place.group_hash.load(std::memory_order_relaxed) == group_hash;
}

bool CallRing::is_before(uint64_t group_hash, uint64_t sequence) const {
  const Place& place = places_[place_of(group_hash)];
  const uint64_t last = place.sequence.load(std::memory_order_acquire);
  return last == 0 ||
         (place.group_hash.load(std::memory_order_relaxed) == group_hash && last < sequence);
}

std::string CallRing::name_of_group(uint64_t group_hash) const {
  const Place& place = places_[place_of(group_hash)];
  if (place.sequence.load(std::memory_order_acquire) == 0 ||
      place.group_hash.load(std::memory_order_relaxed) != group_hash) {
    return fmt::format("of hash {:x}", group_hash);
  }
  const Name name = place.name.get();
  return {name.text, strnlen(name.text, sizeof(name.text))};
}

}  // namespace phi::distributed
