// Whether the order of a layout's mesh dims matters on a machine.
#pragma once

#include "distributed/planner/job_layout.h"
#include "distributed/simulator/machine.h"

namespace phi::planning {

/// Whether both orders of the mesh connect every two ranks, named by their coordinates, by the same
/// link, so that their predictions are equal. Only for layouts with dp > 1 and pp > 1, which have
/// two orders; false for all others.
bool has_equal_orders(const distributed::JobLayout& layout,
                      const distributed::simulator::MachineModel& machine);

/// The other order of dp and pp.
distributed::MeshOrder other_order(distributed::MeshOrder order);

}  // namespace phi::planning
