// Translates a rank's record to a rank program: peers become distances or parts, and groups become
// indices.
#include "api/simulation/record_step.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/call/call_events.h"
#include "distributed/comm/rank_positions.h"
#include "distributed/placement/collective_volume.h"
#include "phi/core/observer_scope.h"

namespace phi::simulation {
namespace {

using distributed::CommOp;
using distributed::RankPositions;
using distributed::RecordedLaunch;
using distributed::RecordedMessages;
using distributed::RecordedTraffic;
using distributed::RecordedWait;
using distributed::RecordingWorld;
using distributed::simulator::CallPart;
using distributed::simulator::CallParts;
using distributed::simulator::CallPattern;
using distributed::simulator::CallWait;
using distributed::simulator::Computation;
using distributed::simulator::GroupCall;
using distributed::simulator::PeerTraffic;
using distributed::simulator::RankProgram;

CallPattern pattern_of(CommOp op) {
  switch (op) {
    case CommOp::kExchange:
    case CommOp::kAllToAll:
      return CallPattern::kPointToPoint;
    case CommOp::kBroadcast:
    case CommOp::kBarrier:
      return CallPattern::kTree;
    default:
      return CallPattern::kDirect;
  }
}

// Whether the members of an all-reduce send whole arrays, and not parts.
bool is_in_one_round(int64_t bytes, size_t members) {
  return distributed::all_reduce_by_gather(bytes, static_cast<int64_t>(members));
}

int64_t bytes_combined(const RecordedMessages& call) {
  if (call.op != CommOp::kAllReduce && call.op != CommOp::kReduceScatter) return 0;
  int64_t received = 0;
  for (const RecordedTraffic& peer : call.peers) received += peer.bytes_received;
  const bool gathers =
      call.op == CommOp::kAllReduce && !is_in_one_round(call.bytes, call.group->size());
  return gathers ? received / 2 : received;  // the other half are results
}

// The parts of all members, if the call only gathers or scatters them, or both.
CallParts parts_of(const GroupCall& call, size_t own, size_t members, bool gathers, bool scatters) {
  CallParts out{std::vector<CallPart>(members), gathers, scatters};
  const PeerTraffic& any = call.peers.front();
  int64_t own_bytes = gathers ? any.bytes_sent : any.bytes_received;
  if (gathers && scatters) {  // others send their part and the own one
    int64_t received = 0;
    for (const PeerTraffic& peer : call.peers) received += peer.bytes_received;
    own_bytes = (received - call.bytes) / static_cast<int64_t>(members - 2);
  }
  for (const PeerTraffic& peer : call.peers) {
    CallPart& part = out.by_position[(own + static_cast<size_t>(peer.distance)) % members];
    part.bytes = gathers ? peer.bytes_received - (scatters ? own_bytes : 0) : peer.bytes_sent;
    if (scatters) part.messages = peer.messages_sent - (gathers && own_bytes > 0);
  }
  const CallPart& other = out.by_position[(own + static_cast<size_t>(any.distance)) % members];
  out.by_position[own].bytes = own_bytes;
  if (scatters)
    out.by_position[own].messages = any.messages_received - (gathers && other.bytes > 0);
  return out;
}

bool has_peers(const GroupCall& by_parts, size_t own, const std::vector<PeerTraffic>& peers) {
  std::vector<PeerTraffic> found;
  for_each_peer(by_parts, own, [&](const PeerTraffic& peer) { found.push_back(peer); });
  return found == peers;
}

// Reshards to another mesh or to other tensor dims may gather parts too; then none of them is
// empty.
bool is_gather(CommOp op, bool has_all_peers) {
  const bool may_gather = op == CommOp::kExchange || op == CommOp::kAllToAll;
  return op == CommOp::kAllGather || (may_gather && has_all_peers);
}

// Replaces peers by parts if the call exchanges parts of different sizes, so that members whose
// parts have the same size make equal calls.
void find_parts(size_t own, size_t members, CommOp op, GroupCall* call) {
  const bool is_all_reduce = op == CommOp::kAllReduce && !is_in_one_round(call->bytes, members);
  const bool gathers = is_all_reduce || is_gather(op, call->peers.size() == members - 1);
  const bool scatters = op == CommOp::kReduceScatter || is_all_reduce;
  if (members < 3 || call->peers.empty() || (!gathers && !scatters)) return;
  GroupCall by_parts;
  by_parts.parts = parts_of(*call, own, members, gathers, scatters);
  const std::vector<CallPart>& parts = by_parts.parts.by_position;
  const bool are_equal =
      std::ranges::adjacent_find(parts, std::ranges::not_equal_to()) == parts.end();
  if (are_equal || !has_peers(by_parts, own, call->peers)) return;
  call->peers.clear();
  call->parts = std::move(by_parts.parts);
}

class ProgramBuilder {
 public:
  explicit ProgramBuilder(int64_t rank) : rank_(rank) {}

  void operator()(const RecordedLaunch& launch) {
    program_.events.emplace_back(Computation{launch.op, launch.dtype, launch.flops, launch.bytes});
  }
  void operator()(const RecordedMessages& call) {
    GroupCall out;
    out.group = group_index(call.group);
    out.op = name_of(call.op);
    out.pattern = pattern_of(call.op);
    out.is_started = call.is_started;
    out.bytes_combined = bytes_combined(call);
    out.bytes = call.bytes;
    const RankPositions& positions = positions_[out.group];
    const int64_t own = positions.of(rank_);
    const auto size = static_cast<int64_t>(call.group->size());
    for (const RecordedTraffic& peer : call.peers) {
      out.peers.push_back({(positions.of(peer.peer) - own + size) % size, peer.messages_sent,
                           peer.bytes_sent, peer.messages_received, peer.bytes_received});
    }
    std::ranges::sort(out.peers, {}, &PeerTraffic::distance);
    find_parts(static_cast<size_t>(own), call.group->size(),
               call.op == CommOp::kExchange ? call.counted_as : call.op, &out);
    program_.events.emplace_back(std::move(out));
  }
  void operator()(const RecordedWait& wait) { program_.events.emplace_back(CallWait{wait.call}); }

  RankProgram take() { return std::move(program_); }

 private:
  size_t group_index(const std::shared_ptr<const std::vector<int64_t>>& ranks) {
    const auto [shared, is_new] = indices_.try_emplace(ranks.get());
    if (!is_new) return shared->second;
    const auto known = std::ranges::find(program_.groups, *ranks);
    shared->second = static_cast<size_t>(known - program_.groups.begin());
    if (known == program_.groups.end()) {
      program_.groups.push_back(*ranks);
      positions_.emplace_back(*ranks);
    }
    return shared->second;
  }

  int64_t rank_;
  RankProgram program_;
  std::vector<RankPositions> positions_;  // by group
  std::unordered_map<const std::vector<int64_t>*, size_t> indices_;
};

class LaunchObserver final : public Observer {
 public:
  explicit LaunchObserver(RecordingWorld& world) : world_(world) {}
  void on_planned_launch(const PlannedLaunch& launch) override {
    world_.add({launch.op, launch.cost.dtype, launch.cost.flops, launch.cost.bytes()});
  }

 private:
  RecordingWorld& world_;
};

}  // namespace

RankProgram record_step(RecordingWorld& world, const std::function<void()>& step) {
  world.take();
  LaunchObserver launches(world);
  {
    const ObserverScope scope(launches, world.rank_context());
    step();
  }
  return program_of(world.take(), world.rank());
}

RankProgram program_of(const std::vector<distributed::RecordedEvent>& events, int64_t rank) {
  ProgramBuilder builder(rank);
  for (const auto& event : events) std::visit(builder, event);
  return builder.take();
}

}  // namespace phi::simulation
