// Activity: what a rank was last doing, in a form that lies in shared memory, and the report that
// is made of all of them when a call has waited too long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// Plain bytes: other processes read it. All zero: the rank has made no call yet.
struct Activity {
  char op[24];
  char scope[64];
  char group[112];
  uint64_t sequence;
  int64_t bytes;
  int64_t since_ns;  // steady clock
  CallState state;

  // The last call that the rank came to, per group: a hash table with open addressing. A rank of
  // more groups than it has places forgets some, and may then be called missing where it is not.
  struct Came {
    uint64_t group_hash;
    uint64_t sequence;  // 0: a free place
  };
  static constexpr size_t kPlaces = 256;
  Came came[kPlaces];

  void set(const Call& call, CallState now);
  /// The rank has begun this call, though it may be over or be waited for later.
  bool came_to(const Call& call) const;
  std::string to_string() const;

 private:
  size_t place_of(uint64_t group_hash) const;
};

/// "No answer within 60 s in all_reduce #418 of group {4,5} ..." and a line per rank of the group;
/// `activity_of` gives null for a rank that this process knows nothing about.
std::string timeout_report(const Call& call, World::Milliseconds deadline,
                           const std::function<const Activity*(int64_t rank)>& activity_of);

}  // namespace phi::distributed
