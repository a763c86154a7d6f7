// Arrows between ranks in a trace, and their events.
#include "distributed/comm/report/traced_messages.h"

#include <algorithm>
#include <unordered_map>

#include "distributed/comm/group.h"

namespace phi::distributed {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t id_of(const CollectiveCall& call, int64_t from, int64_t to) {
  uint64_t id = call.group->hash();
  for (const uint64_t part :
       {call.sequence, static_cast<uint64_t>(from), static_cast<uint64_t>(to)}) {
    id = mixed(id + 0x9e3779b97f4a7c15u + part);
  }
  return id;
}

template <typename Message, typename MakeId>
std::vector<Arrow> arrows_of(std::span<const Message> messages, MakeId make_id) {
  std::vector<Arrow> arrows;
  std::unordered_map<int64_t, size_t> by_peer;
  for (const Message& message : messages) {
    const auto [known, is_new] = by_peer.try_emplace(message.peer, arrows.size());
    if (is_new) arrows.push_back({make_id(message.peer), message.peer, 0});
    arrows[known->second].bytes += static_cast<int64_t>(message.bytes);
  }
  return arrows;
}

}  // namespace

std::vector<Arrow> arrows_from(int64_t rank, const CollectiveCall& call,
                               std::span<const Send> sends) {
  return arrows_of(sends, [&](int64_t peer) { return id_of(call, rank, peer); });
}

std::vector<Arrow> arrows_to(int64_t rank, const CollectiveCall& call,
                             std::span<const Recv> recvs) {
  return arrows_of(recvs, [&](int64_t peer) { return id_of(call, peer, rank); });
}

void describe(const CollectiveCall& call, Trace& trace, TraceEvent* event) {
  if (!event) return;
  event->detail = trace.text(call.group->name());
  event->caller = call.scope;
  event->sequence = call.sequence;
}

void describe(std::span<const Arrow> sends, std::span<const Arrow> recvs, TraceEvent* event) {
  if (!event) return;
  event->name = recvs.empty() ? "send" : sends.empty() ? "receive" : "exchange";
  const int64_t peer = recvs.empty() ? sends[0].peer : recvs[0].peer;
  const auto is_peer = [&](const Arrow& arrow) { return arrow.peer == peer; };
  if (std::ranges::all_of(sends, is_peer) && std::ranges::all_of(recvs, is_peer)) {
    event->peer = peer;
  }
}

void add_ends(std::span<const Arrow> arrows, TraceKind kind, const CollectiveCall& call,
              Trace& trace) {
  for (const Arrow& arrow : arrows) {
    TraceEvent* const event = trace.add(kind, "message");
    describe(call, trace, event);
    if (!event) continue;
    event->id = arrow.id;
    event->peer = arrow.peer;
    (kind == TraceKind::kSend ? event->bytes_sent : event->bytes_received) = arrow.bytes;
  }
}

}  // namespace phi::distributed
