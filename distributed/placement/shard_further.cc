// Chooses the tensor dim that one more mesh dim splits.
#include "distributed/placement/shard_further.h"

#include <tuple>

namespace phi::distributed {

const TensorDistAttr* shard_further(const TensorDistAttr* attr, const Dims& global,
                                    std::string_view mesh_dim) {
  const ProcessMesh& mesh = attr->mesh();
  int over = -1;
  for (int m = 0; m < mesh.ndim(); ++m) {
    if (mesh.dim_names()[m] == mesh_dim) over = m;
  }
  if (over < 0 || !attr->placement(over).is_replicate() || global.ndim() == 0) return attr;
  using Merit = std::tuple<bool, bool, int64_t>;  // splits evenly, not split yet, extent of a part
  Merit best{false, false, -1};
  int chosen = 0;
  int order = 0;
  for (int d = 0; d < global.ndim(); ++d) {
    int64_t parts = 1;
    const std::vector<int> splitters = attr->mesh_dims_of(d);
    for (int m : splitters) parts *= mesh.dim_size(m);
    const bool even = global[d] % (parts * mesh.dim_size(over)) == 0;
    const Merit merit{even, splitters.empty(), global[d] / parts};
    if (merit <= best) continue;
    best = merit;
    chosen = d;
    order = static_cast<int>(splitters.size());
  }
  PlacementArray placements = attr->placement_array();
  placements[over] = Shard(chosen, order);
  return TensorDistAttr::get(mesh, std::span<const Placement>(placements.data(), mesh.ndim()));
}

}  // namespace phi::distributed
