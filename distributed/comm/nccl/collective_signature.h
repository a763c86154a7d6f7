// CollectiveSignature: the signature of a call between two ranks. They exchange it over the host
// before NCCL is called, because NCCL checks nothing and hangs if the two ends differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "distributed/comm/collective_call.h"
#include "distributed/comm/messages.h"

namespace phi::distributed {

/// One rank's description of its messages to and from one peer.
struct CollectiveSignature {
  static constexpr size_t kSizes = 3;  // messages whose sizes are compared one by one

  uint64_t ordinal;  // number among the calls with that rank in all groups, from 1
  int64_t call_bytes;
  int64_t sends;
  int64_t recvs;
  uint64_t sent[kSizes];  // sizes of the first messages in bytes
  uint64_t received[kSizes];
  uint64_t all_sent;  // hash of all sizes, in order
  uint64_t all_received;

  /// The signature of this rank's messages with rank `peer`.
  static CollectiveSignature of(const CollectiveCall& call, uint64_t ordinal, int64_t peer,
                                std::span<const Send> sends, std::span<const Recv> recvs);
};
static_assert(std::is_trivially_copyable_v<CollectiveSignature>);

/// Describes the mismatch between rank `own`, which has the signature `ours`, and rank `peer`.
/// Empty if they match. Both ranks produce the same text.
std::string difference(const CollectiveCall& call, int64_t own, const CollectiveSignature& ours,
                       int64_t peer, const CollectiveSignature& theirs);

}  // namespace phi::distributed
