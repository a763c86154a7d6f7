// Messages of calls by parts, and hashes of rank programs.
#include "distributed/simulator/rank_program.h"

#include <algorithm>
#include <functional>

namespace phi::distributed::simulator {
namespace {

class EventHash {
 public:
  template <typename T>
  void add(const T& value) {
    hash_ ^= std::hash<T>()(value) + 0x9e3779b97f4a7c15u + (hash_ << 6) + (hash_ >> 2);
  }
  void operator()(const Computation& computation) {
    add(computation.op);
    add(static_cast<int>(computation.dtype));
    add(computation.flops);
    add(computation.bytes);
    add(computation.seconds);
  }
  void operator()(const GroupCall& call) {
    add(call.op);
    add(call.group);
    add(call.is_started);
    add(call.bytes);
    for (const PeerTraffic& peer : call.peers) {
      add(peer.distance);
      add(peer.bytes_sent);
      add(peer.bytes_received);
    }
    for (const CallPart& part : call.parts.by_position) add(part.bytes);
  }
  void operator()(const CallWait& wait) { add(wait.call); }
  size_t value() const { return hash_; }

 private:
  size_t hash_ = 0;
};

}  // namespace

PeerTraffic traffic_of(const GroupCall& call, size_t position, int64_t distance) {
  PeerTraffic out{.distance = distance};
  const std::vector<CallPart>& parts = call.parts.by_position;
  if (parts.empty()) {
    const auto likely = static_cast<size_t>(distance - 1);  // if the call has all members
    if (likely < call.peers.size() && call.peers[likely].distance == distance)
      return call.peers[likely];
    const auto found = std::ranges::find(call.peers, distance, &PeerTraffic::distance);
    return found != call.peers.end() ? *found : out;
  }
  const CallPart& own = parts[position];
  const CallPart& other = parts[(position + static_cast<size_t>(distance)) % parts.size()];
  if (call.parts.gathers) {
    out.messages_sent += own.bytes > 0;
    out.bytes_sent += own.bytes;
    out.messages_received += other.bytes > 0;
    out.bytes_received += other.bytes;
  }
  if (call.parts.scatters) {
    out.messages_sent += other.messages;
    out.bytes_sent += other.bytes;
    out.messages_received += own.messages;
    out.bytes_received += own.bytes;
  }
  return out;
}

size_t hash_of(const std::vector<RankEvent>& events) {
  EventHash hash;
  for (const RankEvent& event : events) std::visit(hash, event);
  return hash.value();
}

}  // namespace phi::distributed::simulator
