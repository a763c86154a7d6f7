// Calls and messages as a trace shows them: a call says its group and number, and an arrow leads
// from where a message is put under way on one rank to where it is waited for on another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/comm/world.h"
#include "phi/core/trace/trace.h"

namespace phi::distributed {

/// All messages of one call from one rank to another.
struct Arrow {
  uint64_t id = 0;  // both ends find the same
  int64_t peer = 0;
  int64_t bytes = 0;
};

/// Arrows from `rank` to the others, one for each that it sends to. Peers are ranks of the world.
std::vector<Arrow> arrows_from(int64_t rank, const Call& call, std::span<const Send> sends);
/// Arrows that arrive at `rank`.
std::vector<Arrow> arrows_to(int64_t rank, const Call& call, std::span<const Recv> recvs);

/// Says of an event (null: of none) which call it belongs to.
void describe(const Call& call, Trace& trace, TraceEvent* event);
/// Which way messages go: "send", "receive", or "exchange"; and with whom, if it is one rank.
void describe(std::span<const Arrow> sends, std::span<const Arrow> recvs, TraceEvent* event);
/// One end of each arrow, now: kSend or kReceive.
void add_ends(std::span<const Arrow> arrows, TraceKind kind, const Call& call, Trace& trace);

/// A transfer whose start is in the trace.
struct TracedTransfer {
  std::vector<Arrow> sends;
  std::vector<Arrow> recvs;
  TraceWork work;
  int64_t start_ns = 0;
};

}  // namespace phi::distributed
