// RankProgram: what one rank computes, sends and waits for in a step, in order. Pure data: it is
// recorded by api/simulation and simulated by simulate().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "phi/common/dtype.h"

namespace phi::distributed::simulator {

/// A launch.
struct Computation {
  std::string_view op;  // outlives the program
  DataType dtype = DataType::UNDEFINED;
  double flops = 0;    // 0: the launch is bound by memory
  double bytes = 0;    // read and written
  double seconds = 0;  // if known; 0: as the machine's rates say

  friend bool operator==(const Computation&, const Computation&) = default;
};

/// The messages of a call between this rank and another member.
struct PeerTraffic {
  int64_t distance = 0;  // from this rank's position to the peer's, modulo the group's size
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t messages_received = 0;
  int64_t bytes_received = 0;

  friend bool operator==(const PeerTraffic&, const PeerTraffic&) = default;
};

/// Which members a call waits for.
enum class CallPattern : uint8_t {
  kPointToPoint,  // those that it receives from
  kDirect,        // all; they exchange messages in one round
  kTree           // all; messages take log2(members) rounds
};

/// A call of all members of a group. The k-th call of a group on one member is the k-th on all.
struct GroupCall {
  size_t group = 0;     // index in RankProgram::groups
  std::string_view op;  // "all_reduce"; outlives the program
  CallPattern pattern = CallPattern::kPointToPoint;
  bool is_started = false;     // the rank continues at once; a CallWait may follow
  int64_t bytes_combined = 0;  // received bytes that a reduction combines with this rank's
  std::vector<PeerTraffic> peers;
  int64_t bytes = 0;  // of the whole array, whose parts the members have or receive; of an exchange
                      // or all_to_all, what this rank sends and receives

  friend bool operator==(const GroupCall&, const GroupCall&) = default;
};

/// The wait for a started call.
struct CallWait {
  size_t call = 0;  // index among the program's calls

  friend bool operator==(const CallWait&, const CallWait&) = default;
};

using RankEvent = std::variant<Computation, GroupCall, CallWait>;

struct RankProgram {
  std::vector<RankEvent> events;
  /// Ranks of the groups, in the order of their first calls.
  std::vector<std::vector<int64_t>> groups;
};

/// A hash of events. Ranks with equal events are one class: they do the same in groups of their
/// own.
size_t hash_of(const std::vector<RankEvent>& events);

}  // namespace phi::distributed::simulator
