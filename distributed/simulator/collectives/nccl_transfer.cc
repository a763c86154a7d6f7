// Rings and trees.
#include "distributed/simulator/collectives/nccl_transfer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "phi/common/errors.h"

namespace phi::distributed::simulator {
namespace {

// Of a value that passes all members of a ring once.
double ring_latency(const GroupLinks& links) {
  double all = 0;
  double least = links.levels.front().link->latency_us;
  for (const GroupLinks::Level& level : links.levels) {
    all += static_cast<double>(level.edges) * level.link->latency_us;
    least = std::min(least, level.link->latency_us);
  }
  return (all - least) * 1e-6;
}

// From the members that are farthest from the root.
double tree_latency(const GroupLinks& links) {
  double all = 0;
  for (const GroupLinks::Level& level : links.levels) {
    const int64_t depth = std::bit_width(static_cast<uint64_t>(level.units)) - 1;
    const int64_t hops = level.is_innermost ? level.units - 1 : depth;
    all += static_cast<double>(hops) * level.link->latency_us;
  }
  return all * 1e-6;
}

// Of the array, that leaves each member of a ring.
double other_members(const GroupLinks& links) {
  return static_cast<double>(links.ranks - 1) / static_cast<double>(links.ranks);
}

NcclTransfer ring_all_gather(const GroupLinks& links, double bytes) {
  return {ring_latency(links), other_members(links) * bytes};
}

NcclTransfer ring_broadcast(const GroupLinks& links, double bytes) {
  return {ring_latency(links), bytes};
}

NcclTransfer all_reduce(const GroupLinks& links, double bytes) {
  const NcclTransfer ring{2 * ring_latency(links), 2 * other_members(links) * bytes};
  const NcclTransfer tree{2 * tree_latency(links), 2 * bytes};
  return tree.seconds(links) < ring.seconds(links) ? tree : ring;
}

struct NcclCollective {
  std::string_view op;
  NcclTransfer (*transfer)(const GroupLinks& links, double bytes);
};

constexpr std::array kNcclCollectives = {
    NcclCollective{"all_reduce", all_reduce},
    NcclCollective{"all_gather", ring_all_gather},
    NcclCollective{"reduce_scatter", ring_all_gather},
    NcclCollective{"broadcast", ring_broadcast},
    NcclCollective{"barrier", [](const GroupLinks& links, double) { return all_reduce(links, 0); }},
};

}  // namespace

NcclTransfer nccl_transfer(const GroupLinks& links, std::string_view op, double bytes) {
  const auto* const row = std::ranges::find(kNcclCollectives, op, &NcclCollective::op);
  PHI_CHECK(row != kNcclCollectives.end(),
            errors::InvalidArgument("NCCL has no collective '{}' whose time is known.", op));
  return row->transfer(links, bytes);
}

}  // namespace phi::distributed::simulator
