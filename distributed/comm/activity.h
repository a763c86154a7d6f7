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
  uint64_t group_hash;
  uint64_t sequence;
  int64_t bytes;
  int64_t since_ns;  // steady clock
  int32_t waiting;

  void set(const Call& call, bool is_waiting);
  std::string to_string() const;
};

/// "No answer within 60 s in all_reduce #418 of group {4,5} ..." and a line per rank of the group;
/// `activity_of` gives null for a rank that this process knows nothing about.
std::string timeout_report(const Call& call, World::Milliseconds deadline,
                           const std::function<const Activity*(int64_t rank)>& activity_of);

}  // namespace phi::distributed
