// Translates a rank's record to a rank program: peers become distances, and groups become indices.
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

int64_t bytes_combined(const RecordedMessages& call) {
  if (call.op != CommOp::kAllReduce && call.op != CommOp::kReduceScatter) return 0;
  int64_t received = 0;
  for (const RecordedTraffic& peer : call.peers) received += peer.bytes_received;
  const auto ranks = static_cast<int64_t>(call.group->size());
  const bool gathers =
      call.op == CommOp::kAllReduce && !distributed::all_reduce_by_gather(call.bytes, ranks);
  return gathers ? received / 2 : received;  // the other half are results
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
