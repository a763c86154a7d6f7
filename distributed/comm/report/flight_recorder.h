// FlightRecorder: the last calls of one rank. It can be placed in memory shared
// with other processes, which may read it at any time: while it is written to, and after its rank
// has ended.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "distributed/comm/report/call_header.h"

namespace phi::distributed {

/// Timestamps of calls, in nanoseconds, from a clock that all processes of a machine share.
int64_t steady_ns();

/// All zeros mean that the rank has made no call yet.
class FlightRecorder {
 public:
  static constexpr size_t kCalls = 64;

  struct Entry {
    CallHeader call;
    int64_t started_ns;
    int64_t finished_ns;  // 0: not yet
    CallState state;
  };

  /// Called by the rank itself when it begins, waits for, or has finished this call.
  void note(const CollectiveCall& call, CallState state);

  /// The entries, oldest first. Skips an entry that is being written.
  std::vector<Entry> calls() const;
  /// Whether the rank has begun this call of the group; the call may be finished or waited for
  /// later. A rank that is in more groups than kGroupEntries forgets some.
  bool has_reached(uint64_t group_hash, uint64_t sequence) const;
  /// Whether the rank has certainly not begun this call: unlike !has_reached(), false for a group
  /// that it has forgotten.
  bool is_before(uint64_t group_hash, uint64_t sequence) const;
  /// "{0,1}", the name that this rank has for the group.
  std::string name_of_group(uint64_t group_hash) const;

 private:
  // Bytes that one thread writes and others read, as whole words: a read sees torn values only
  // between words, which the version detects.
  template <typename T>
  class AtomicBytes {
   public:
    void set(const T& value);
    T get() const;
    uint64_t word(size_t i) const { return words_[i].load(std::memory_order_relaxed); }

   private:
    std::array<std::atomic<uint64_t>, (sizeof(T) + 7) / 8> words_;
  };
  struct Slot {
    std::atomic<uint64_t> version;  // odd during a write
    std::atomic<int64_t> started_ns;
    std::atomic<int64_t> finished_ns;
    std::atomic<CallState> state;
    AtomicBytes<CallHeader> call;

    void set(const CallHeader& begun, CallState now);
    bool get(Entry* value) const;
    bool holds(const CollectiveCall& other) const;
  };
  struct GroupName {
    char text[104];
  };
  // An entry of a hash table with open addressing.
  struct GroupEntry {
    std::atomic<uint64_t> sequence;  // the rank's last call in the group; 0: a free entry
    std::atomic<uint64_t> group_hash;
    AtomicBytes<GroupName> name;
  };
  static constexpr size_t kGroupEntries = 256;

  void change(const CollectiveCall& call, CallState state);
  void note_group(const CollectiveCall& call);
  size_t group_entry_of(uint64_t group_hash) const;

  std::atomic<uint64_t> made_;  // the number of calls ever entered
  std::array<Slot, kCalls> slots_;
  std::array<GroupEntry, kGroupEntries> group_entries_;
};

}  // namespace phi::distributed
