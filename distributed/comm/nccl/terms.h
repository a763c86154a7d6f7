// Terms: what two ranks tell each other of their messages of one call over the host, before NCCL
// hears of it: NCCL checks nothing, and waits for ever where two ends differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// Of one rank, about its messages to and from one other.
struct Terms {
  static constexpr size_t kSizes = 3;  // that are told one by one

  uint64_t ordinal;  // of the calls with that rank, of all groups; the first is 1
  int64_t call_bytes;
  int64_t sends;
  int64_t recvs;
  uint64_t sent[kSizes];  // bytes of the first messages
  uint64_t received[kSizes];
  uint64_t all_sent;  // a hash of all sizes, in order
  uint64_t all_received;

  /// `peer`: a rank.
  static Terms of(const Call& call, uint64_t ordinal, int64_t peer, std::span<const Send> sends,
                  std::span<const Recv> recvs);
};
static_assert(std::is_trivially_copyable_v<Terms>);

/// What is wrong between rank `own`, which says `ours` in this call, and `peer`; empty: nothing.
/// Both find the same words.
std::string difference(const Call& call, int64_t own, const Terms& ours, int64_t peer,
                       const Terms& theirs);

}  // namespace phi::distributed
