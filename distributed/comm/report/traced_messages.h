// Trace output of calls and messages. An event of a call names its group and number. An arrow leads
// from where a message is posted on one rank to where it is waited for on another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/comm/collective_call.h"
#include "distributed/comm/messages.h"
#include "phi/core/trace/trace.h"

namespace phi::distributed {

/// All messages of one call from one rank to another.
struct Arrow {
  uint64_t id = 0;  // the same on both ends
  int64_t peer = 0;
  int64_t bytes = 0;
};

/// Arrows from `rank`, one per receiver. Peers are ranks of the world.
std::vector<Arrow> arrows_from(int64_t rank, const CollectiveCall& call,
                               std::span<const Send> sends);
/// Arrows that arrive at `rank`.
std::vector<Arrow> arrows_to(int64_t rank, const CollectiveCall& call, std::span<const Recv> recvs);

/// Adds the call's group and number to an event. A null `event` is ignored.
void describe(const CollectiveCall& call, Trace& trace, TraceEvent* event);
/// Adds the direction to an event: "send", "receive" or "exchange", and the peer if there is only
/// one.
void describe(std::span<const Arrow> sends, std::span<const Arrow> recvs, TraceEvent* event);
/// Adds one end of each arrow at the current time; `kind` is kSend or kReceive.
void add_ends(std::span<const Arrow> arrows, TraceKind kind, const CollectiveCall& call,
              Trace& trace);

/// A transfer that had observers at its start.
struct ObservedTransfer {
  Observers::Audience audience;
  std::vector<Arrow> sends;
  std::vector<Arrow> recvs;
  RankWork work;
  int64_t start_ns = 0;
};

}  // namespace phi::distributed
