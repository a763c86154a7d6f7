// Ranks along tp are neighbours in both orders, so a unit that is a part of them keeps its members.
#include "api/planning/mesh_orders.h"

#include <algorithm>

namespace phi::planning {

using distributed::JobLayout;
using distributed::MeshOrder;
using distributed::simulator::LinkLevel;
using distributed::simulator::MachineModel;

bool has_equal_orders(const JobLayout& layout, const MachineModel& machine) {
  if (layout.dp == 1 || layout.pp == 1) return false;
  const auto keeps_members = [&](int64_t unit) {
    return unit >= layout.ranks() || layout.tp % unit == 0;
  };
  return std::ranges::all_of(machine.links, [&](const LinkLevel& link) {
    return (link.size == 0 || keeps_members(link.size)) && keeps_members(link.shared_by);
  });
}

MeshOrder other_order(MeshOrder order) {
  return order == MeshOrder::kDpOutside ? MeshOrder::kPpOutside : MeshOrder::kDpOutside;
}

}  // namespace phi::planning
