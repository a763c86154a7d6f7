// Hashes of rank programs.
#include "distributed/simulator/rank_program.h"

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
  }
  void operator()(const CallWait& wait) { add(wait.call); }
  size_t value() const { return hash_; }

 private:
  size_t hash_ = 0;
};

}  // namespace

size_t hash_of(const std::vector<RankEvent>& events) {
  EventHash hash;
  for (const RankEvent& event : events) std::visit(hash, event);
  return hash.value();
}

}  // namespace phi::distributed::simulator
