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

/// A member's part of an array.
struct CallPart {
  int64_t messages = 0;  // in which it is scattered; it is gathered in one
  int64_t bytes = 0;

  friend bool operator==(const CallPart&, const CallPart&) = default;
};

/// Parts of an array that all members of a group exchange, if some are larger than others.
struct CallParts {
  std::vector<CallPart> by_position{};  // of the group; empty: the call has peers instead
  bool gathers = false;                 // each member sends its part to all others
  bool scatters = false;                // each member receives its part from all others

  friend bool operator==(const CallParts&, const CallParts&) = default;
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
  bool is_started = false;         // the rank continues at once; a CallWait may follow
  int64_t bytes_combined = 0;      // received bytes that a reduction combines with this rank's
  std::vector<PeerTraffic> peers;  // empty if the call has parts
  int64_t bytes = 0;  // of the whole array, whose parts the members have or receive; of an exchange
                      // or all_to_all, what this rank sends and receives
  CallParts parts{};

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

/// The messages between the member at `position` of the call's group, which matters only if the
/// call has parts, and the member at this distance.
PeerTraffic traffic_of(const GroupCall& call, size_t position, int64_t distance);

/// Calls f(const PeerTraffic&) for each member with which the one at `position` exchanges messages.
template <typename F>
void for_each_peer(const GroupCall& call, size_t position, F f) {
  for (const PeerTraffic& peer : call.peers) f(peer);
  const auto parts = static_cast<int64_t>(call.parts.by_position.size());
  for (int64_t distance = 1; distance < parts; ++distance) {
    const PeerTraffic peer = traffic_of(call, position, distance);
    if (peer.messages_sent > 0 || peer.messages_received > 0) f(peer);
  }
}

/// A hash of events. Ranks with equal events are one class: they do the same in groups of their
/// own.
size_t hash_of(const std::vector<RankEvent>& events);

}  // namespace phi::distributed::simulator
