// Adds up the calls of a recorded program.
#include "distributed/simulator/link_bytes.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

namespace phi::distributed::simulator {
namespace {

// One rank's position in the groups of its calls.
class OwnGroups {
 public:
  OwnGroups(const WorldPrograms& world, size_t rank)
      : world_(world), program_(world.rank(rank)), rank_(static_cast<int64_t>(rank)) {}

  const std::vector<int64_t>& ranks_of(const GroupCall& call) const {
    return world_.group(program_.groups[call.group]);
  }
  size_t position_in(const GroupCall& call) {
    const std::vector<int64_t>& ranks = ranks_of(call);
    const auto [known, is_new] = positions_.try_emplace(call.group, 0);
    if (is_new)
      known->second = static_cast<size_t>(std::ranges::find(ranks, rank_) - ranks.begin());
    return known->second;
  }

 private:
  const WorldPrograms& world_;
  const WorldPrograms::Rank& program_;
  const int64_t rank_;
  std::unordered_map<size_t, size_t> positions_;  // by index of the group in the rank's calls
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
    const std::vector<int64_t>& ranks = groups.ranks_of(*call);
    const size_t own = groups.position_in(*call);
    for_each_peer(*call, own, [&](const PeerTraffic& traffic) {
      if (traffic.bytes_sent == 0) return;
      const size_t peer = (own + static_cast<size_t>(traffic.distance)) % ranks.size();
      const LinkLevel& level = machine.link_between(ranks[own], ranks[peer]);
      // Levels are an array, from the inside out.
      if (outermost == nullptr || &level > outermost) outermost = &level;
      bytes += traffic.bytes_sent;
    });
    if (outermost) out[std::string(call->op)][outermost->name] += bytes;
  }
  return out;
}

}  // namespace phi::distributed::simulator
