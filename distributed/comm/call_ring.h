// CallRing: the last calls of one rank, in a form that lies in memory shared with other processes,
// who may read it at any time: also while it is written to, and when its rank is gone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "distributed/comm/plain_call.h"

namespace phi::distributed {

/// What the ring's times are: all processes of a machine have this clock in common.
int64_t steady_ns();

/// All zero: the rank has made no call yet.
class CallRing {
 public:
  static constexpr size_t kCalls = 64;

  struct Entry {
    PlainCall call;
    int64_t started_ns;
    int64_t finished_ns;  // 0: not yet
    CallState state;
  };

  /// By the rank itself: it begins, waits for, or has finished this call.
  void note(const Call& call, CallState state);

  /// Oldest first. Of an entry that is being written at the moment nothing is seen.
  std::vector<Entry> calls() const;
  /// The rank has begun this call of the group, though it may be over or be waited for later. A
  /// rank of more groups than the ring has places for forgets some.
  bool came_to(uint64_t group_hash, uint64_t sequence) const;
  /// "{0,1}", as this rank knows the group.
  std::string name_of_group(uint64_t group_hash) const;

 private:
  // Bytes that are written by one thread and read by others: whole words, so that nothing is torn
  // but what the version tells.
  template <typename T>
  class Words {
   public:
    void set(const T& value);
    T get() const;
    uint64_t word(size_t i) const { return words_[i].load(std::memory_order_relaxed); }

   private:
    std::array<std::atomic<uint64_t>, (sizeof(T) + 7) / 8> words_;
  };
  struct Slot {
    std::atomic<uint64_t> version;  // odd while it is written
    std::atomic<int64_t> started_ns;
    std::atomic<int64_t> finished_ns;
    std::atomic<CallState> state;
    Words<PlainCall> call;

    void set(const PlainCall& begun, CallState now);
    bool get(Entry* value) const;
    bool holds(const Call& other) const;
  };
  struct Name {
    char text[104];
  };
  // A hash table with open addressing.
  struct Place {
    std::atomic<uint64_t> sequence;  // the last that the rank came to; 0: a free place
    std::atomic<uint64_t> group_hash;
    Words<Name> name;
  };
  static constexpr size_t kPlaces = 256;

  void change(const Call& call, CallState state);
  void note_group(const Call& call);
  size_t place_of(uint64_t group_hash) const;

  std::atomic<uint64_t> made_;  // calls that were ever entered
  std::array<Slot, kCalls> slots_;
  std::array<Place, kPlaces> places_;
};

}  // namespace phi::distributed
