// A ring of call headers, each behind a version count (a sequence lock), and the table of groups.
#include "distributed/comm/report/flight_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "distributed/comm/group.h"
#include "phi/common/process/yield_point.h"

namespace phi::distributed {

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Other processes map it into their memory.
static_assert(std::is_standard_layout_v<FlightRecorder> &&
              std::atomic<uint64_t>::is_always_lock_free);

template <typename T>
void FlightRecorder::AtomicBytes<T>::set(const T& value) {
  std::array<uint64_t, (sizeof(T) + 7) / 8> plain{};
  std::memcpy(plain.data(), &value, sizeof(T));
  for (size_t i = 0; i < plain.size(); ++i) words_[i].store(plain[i], std::memory_order_release);
}

template <typename T>
T FlightRecorder::AtomicBytes<T>::get() const {
  std::array<uint64_t, (sizeof(T) + 7) / 8> plain{};
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = words_[i].load(std::memory_order_acquire);
  T value;
  std::memcpy(&value, plain.data(), sizeof(T));
  return value;
}

// A reader that sees a word of this write also sees the odd version or a later one, because words
// are stored with release and loaded with acquire order. (A fence would suffice, but
// ThreadSanitizer does not support fences.)
void FlightRecorder::Slot::set(const CallHeader& begun, CallState now) {
  const uint64_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  yield_point("flight_recorder.set.half");
  call.set(begun);
  started_ns.store(steady_ns(), std::memory_order_release);
  finished_ns.store(0, std::memory_order_release);
  state.store(now, std::memory_order_release);
  version.store(before + 2, std::memory_order_release);
}

bool FlightRecorder::Slot::get(Entry* value) const {
  const uint64_t before = version.load(std::memory_order_acquire);
  *value = {call.get(), started_ns.load(std::memory_order_acquire),
            finished_ns.load(std::memory_order_acquire), state.load(std::memory_order_acquire)};
  return before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
}

bool FlightRecorder::Slot::holds(const CollectiveCall& other) const {
  static_assert(offsetof(CallHeader, group_hash) == 0 && offsetof(CallHeader, sequence) == 8);
  return call.word(1) == other.sequence && call.word(0) == other.group->hash();
}

void FlightRecorder::note(const CollectiveCall& call, CallState state) {
  const uint64_t made = made_.load(std::memory_order_relaxed);
  if (state == CallState::kFinished || has_reached(call.group->hash(), call.sequence)) {
    return change(call, state);
  }
  slots_[made % kCalls].set(CallHeader::of(call), state);
  note_group(call);
  made_.store(made + 1, std::memory_order_release);
}

// The call is usually the newest. A call that has left the ring is ignored.
void FlightRecorder::change(const CollectiveCall& call, CallState state) {
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

std::vector<FlightRecorder::Entry> FlightRecorder::calls() const {
  std::vector<Entry> out;
  const uint64_t made = made_.load(std::memory_order_acquire);
  for (uint64_t i = made - std::min<uint64_t>(made, kCalls); i < made; ++i) {
    Entry entry;
    if (slots_[i % kCalls].get(&entry)) out.push_back(entry);
  }
  return out;
}

// Index of the group's entry or of the first free one; in a full table that of the home entry.
size_t FlightRecorder::group_entry_of(uint64_t group_hash) const {
  const size_t home = group_hash % kGroupEntries;
  for (size_t i = 0; i < kGroupEntries; ++i) {
    const size_t at = (home + i) % kGroupEntries;
    const GroupEntry& entry = group_entries_[at];
    if (entry.sequence.load(std::memory_order_acquire) == 0 ||
        entry.group_hash.load(std::memory_order_relaxed) == group_hash) {
      return at;
    }
  }
  return home;
}

void FlightRecorder::note_group(const CollectiveCall& call) {
  GroupEntry& entry = group_entries_[group_entry_of(call.group->hash())];
  uint64_t last = entry.sequence.load(std::memory_order_relaxed);
  if (last == 0 || entry.group_hash.load(std::memory_order_relaxed) != call.group->hash()) {
    GroupName name{};
    std::strncpy(name.text, call.group->name().c_str(), sizeof(name.text) - 1);
    entry.name.set(name);
    entry.group_hash.store(call.group->hash(), std::memory_order_relaxed);
    last = 0;
  }
  entry.sequence.store(std::max(last, call.sequence), std::memory_order_release);
}

bool FlightRecorder::has_reached(uint64_t group_hash, uint64_t sequence) const {
  const GroupEntry& entry = group_entries_[group_entry_of(group_hash)];
  return entry.sequence.load(std::memory_order_acquire) >= sequence &&
         entry.group_hash.load(std::memory_order_relaxed) == group_hash;
}

bool FlightRecorder::is_before(uint64_t group_hash, uint64_t sequence) const {
  const GroupEntry& entry = group_entries_[group_entry_of(group_hash)];
  const uint64_t last = entry.sequence.load(std::memory_order_acquire);
  return last == 0 ||
         (entry.group_hash.load(std::memory_order_relaxed) == group_hash && last < sequence);
}

std::string FlightRecorder::name_of_group(uint64_t group_hash) const {
  const GroupEntry& entry = group_entries_[group_entry_of(group_hash)];
  if (entry.sequence.load(std::memory_order_acquire) == 0 ||
      entry.group_hash.load(std::memory_order_relaxed) != group_hash) {
    return fmt::format("of hash {:x}", group_hash);
  }
  const GroupName name = entry.name.get();
  return {name.text, strnlen(name.text, sizeof(name.text))};
}

}  // namespace phi::distributed
