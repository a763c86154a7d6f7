// Against the links between all pairs of ranks.
#include "api/planning/mesh_orders.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::MeshOrder;
using distributed::ProcessMesh;
using distributed::simulator::LinkLevel;
using distributed::simulator::MachineModel;

// The levels and shared links of all pairs of ranks, found one by one.
bool connects_alike(const ProcessMesh& a, const ProcessMesh& b, const MachineModel& machine) {
  for (int64_t first = 0; first < a.size(); ++first) {
    const int64_t first_of_b = b.rank_at(*a.coord_of(first));
    for (int64_t second = 0; second < a.size(); ++second) {
      if (second == first) continue;
      const int64_t second_of_b = b.rank_at(*a.coord_of(second));
      if (!(machine.link_between(first, second) == machine.link_between(first_of_b, second_of_b)))
        return false;
      for (const LinkLevel& link : machine.links) {
        const auto share = [&](int64_t r, int64_t s) {
          return r / link.shared_by == s / link.shared_by;
        };
        if (share(first, second) != share(first_of_b, second_of_b)) return false;
      }
    }
  }
  return true;
}

// The mesh with its dims in the order dp, pp, tp, whatever its ranks.
ProcessMesh by_dims(const JobLayout& layout) {
  std::vector<int64_t> ranks;
  for (int64_t d = 0; d < layout.dp; ++d) {
    for (int64_t p = 0; p < layout.pp; ++p) {
      for (int64_t t = 0; t < layout.tp; ++t) {
        const bool is_dp_outside = layout.order == MeshOrder::kDpOutside;
        ranks.push_back((is_dp_outside ? d * layout.pp + p : p * layout.dp + d) * layout.tp + t);
      }
    }
  }
  return ProcessMesh({layout.dp, layout.pp, layout.tp}, {"dp", "pp", "tp"}, ranks);
}

TEST(MeshOrders, AreEqualIfEveryPairOfRanksHasTheSameLink) {
  int equal = 0;
  for (const int64_t node : {1, 2, 4, 8, 16}) {
    for (const int64_t shared_by : {1, 2, 4}) {
      MachineModel machine;
      machine.links = {
          {"node", node, 1, 4}, {"rack", 2 * node, 2, 2}, {"cluster", 0, 3, 1, shared_by}};
      for (const int64_t tp : {1, 2, 4, 8}) {
        for (const auto& [dp, pp] : {std::pair{2, 2}, {2, 4}, {3, 2}, {1, 4}, {4, 1}}) {
          JobLayout layout{.dp = dp, .pp = pp, .tp = tp};
          JobLayout other = layout;
          other.order = other_order(layout.order);
          const bool expected =
              dp > 1 && pp > 1 && connects_alike(by_dims(layout), by_dims(other), machine);
          EXPECT_EQ(has_equal_orders(layout, machine), expected)
              << to_string(layout) << " node " << node << " shared by " << shared_by;
          EXPECT_EQ(has_equal_orders(other, machine), expected);
          equal += expected;
        }
      }
    }
  }
  EXPECT_GT(equal, 10);
  EXPECT_EQ(other_order(MeshOrder::kPpOutside), MeshOrder::kDpOutside);
}

}  // namespace
}  // namespace phi::planning
