// Adds up the calls of a recorded program.
#include "distributed/simulator/link_bytes.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

namespace phi::distributed::simulator {
namespace {

// One rank's place in the groups of its calls.
class OwnGroups {
 public:
  OwnGroups(const WorldPrograms& world, size_t rank)
      : world_(world), program_(world.rank(rank)), rank_(static_cast<int64_t>(rank)) {}

  int64_t peer_of(const GroupCall& call, const PeerTraffic& traffic) {
    const std::vector<int64_t>& ranks = world_.group(program_.groups[call.group]);
    const auto [known, is_new] = positions_.try_emplace(call.group, 0);
    if (is_new) known->second = std::ranges::find(ranks, rank_) - ranks.begin();
    const auto size = static_cast<int64_t>(ranks.size());
    return ranks[static_cast<size_t>((known->second + traffic.distance) % size)];
  }

 private:
  const WorldPrograms& world_;
  const WorldPrograms::Rank& program_;
  const int64_t rank_;
  std::unordered_map<size_t, int64_t> positions_;  // by index of the group in the rank's calls
};

}  // namespace

LinkBytes link_bytes(const WorldPrograms& world, const MachineModel& machine, size_t rank) {
  LinkBytes out;
  OwnGroups groups(world, rank);
  for (const RankEvent& event : world.events(world.rank(rank).events)) {
    const auto* call = std::get_if<GroupCall>(&event);
    if (call == nullptr) continue;
    const LinkLevel* outermost = nullptr;
    int64_t bytes = 0;
    for (const PeerTraffic& traffic : call->peers) {
      if (traffic.bytes_sent == 0) continue;
      const LinkLevel& level =
          machine.link_between(static_cast<int64_t>(rank), groups.peer_of(*call, traffic));
      // Levels are an array, from the inside out.
      if (outermost == nullptr || &level > outermost) outermost = &level;
      bytes += traffic.bytes_sent;
    }
    if (outermost) out[std::string(call->op)][outermost->name] += bytes;
  }
  return out;
}

}  // namespace phi::distributed::simulator
