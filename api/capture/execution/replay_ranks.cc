// Finds the ranks that run a program and lets them agree.
#include "api/capture/execution/replay_ranks.h"

#include <algorithm>
#include <set>

#include "api/capture/recording.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi {

using distributed::Communicator;
using distributed::World;

namespace {

void add_ranks(const ir::Body& body, std::set<int64_t>* ranks) {
  for (const ir::Value& value : body.values) {
    if (!value.attr) continue;
    const auto of_mesh = value.attr->mesh().ranks();
    ranks->insert(of_mesh.begin(), of_mesh.end());
  }
}

}  // namespace

std::unique_ptr<ReplayRanks> ReplayRanks::of(const ir::Recording& recording, const Place& place) {
  World& world = World::current();
  const Communicator& device_communicator = world.communicator(place);
  if (!device_communicator.records_calls()) return nullptr;
  std::set<int64_t> ranks;
  add_ranks(recording.body(), &ranks);
  for (const ir::Body& body : recording.bodies()) add_ranks(body, &ranks);
  if (ranks.size() < 2 || !ranks.contains(world.rank())) return nullptr;
  return std::unique_ptr<ReplayRanks>(
      new ReplayRanks({ranks.begin(), ranks.end()}, place, device_communicator.id()));
}

int64_t ReplayRanks::least(int64_t own) const {
  const OpScope scope("a run of a captured program");
  World& world = World::current();
  // A run counts the traffic of its function only, not that of the consistency check.
  const Counters before = world.rank_context().counters();
  world.group(ranks_).all_reduce(&own, 1, DataType::INT64, distributed::ReduceKind::kMin);
  world.rank_context().counters() = before;
  return own;
}

std::unique_ptr<LaunchGraph> ReplayRanks::record(const std::function<void()>& body) const {
  Communicator& device_communicator = World::current().communicator(place_);
  return device_communicator.record(device_communicator.group(ranks_), body);
}

bool ReplayRanks::are_connected() const {
  return World::current().communicator(place_).id() == device_communicator_;
}

}  // namespace phi
