// Counts a group's members in the units of each level.
#include "distributed/simulator/collectives/group_links.h"

#include <algorithm>
#include <limits>
#include <map>

namespace phi::distributed::simulator {
namespace {

int64_t unit_of(int64_t rank, int64_t size) { return size == 0 ? 0 : rank / size; }

// The use of a level whose units consist of units of `inner` ranks.
GroupLinks::Level level_of(const LinkLevel& link, int64_t inner, std::span<const int64_t> ranks) {
  std::map<int64_t, std::map<int64_t, int64_t>> members;  // by unit and inner unit
  for (const int64_t rank : ranks) ++members[unit_of(rank, link.size)][rank / inner];
  GroupLinks::Level level{.link = &link, .is_innermost = inner == 1};
  for (const auto& [unit, inner_units] : members) {
    if (inner_units.size() == 1) continue;
    level.units = std::max(level.units, static_cast<int64_t>(inner_units.size()));
    const auto fewest =
        std::ranges::min_element(inner_units, {}, [](const auto& entry) { return entry.second; });
    level.members = level.members == 0 ? fewest->second : std::min(level.members, fewest->second);
  }
  return level;
}

}  // namespace

double GroupLinks::ring_bytes_per_second() const {
  double slowest = std::numeric_limits<double>::infinity();
  for (const Level& level : levels) {
    slowest = std::min(slowest, static_cast<double>(level.members) * level.link->rank_GBps() * 1e9);
  }
  return slowest;
}

GroupLinks links_of(const MachineModel& machine, std::span<const int64_t> ranks) {
  GroupLinks out{.ranks = static_cast<int64_t>(ranks.size()), .levels = {}};
  if (ranks.size() < 2) return out;
  std::vector<int64_t> ring(ranks.begin(), ranks.end());
  std::ranges::sort(ring);
  std::map<const LinkLevel*, int64_t> edges;
  for (size_t i = 0; i < ring.size(); ++i) {
    ++edges[&machine.link_between(ring[i], ring[(i + 1) % ring.size()])];
  }
  int64_t inner = 1;
  for (const LinkLevel& link : machine.links) {
    if (edges.contains(&link)) {
      out.levels.push_back(level_of(link, inner, ring));
      out.levels.back().edges = edges[&link];
    }
    inner = link.size;
  }
  return out;
}

}  // namespace phi::distributed::simulator
