// Compares and changes placements by mesh dim.
#include "distributed/placement/gradient_attr.h"

namespace phi::distributed {

const TensorDistAttr* without_partial(const TensorDistAttr* attr) {
  if (!attr->has_partial()) return attr;
  PlacementArray placements = attr->placement_array();
  for (Placement& p : placements) {
    if (p.is_partial()) p = Replicate();
  }
  return TensorDistAttr::get(
      attr->mesh(),
      std::span<const Placement>(placements.data(), static_cast<size_t>(attr->mesh().ndim())));
}

bool is_gather(const TensorDistAttr* from, const TensorDistAttr* to) {
  if (from->mesh() != to->mesh() || from == to) return false;
  for (int m = 0; m < from->mesh().ndim(); ++m) {
    const Placement& before = from->placement(m);
    const Placement& after = to->placement(m);
    if (before != after && !(before.is_shard() && after.is_replicate())) return false;
  }
  return true;
}

}  // namespace phi::distributed
