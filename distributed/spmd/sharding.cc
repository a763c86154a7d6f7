// Converts between TensorDistAttr and Sharding.
#include "distributed/spmd/sharding.h"

#include "phi/common/errors.h"

namespace phi::distributed {

MeshDims MeshDims::without(uint32_t mask) const {
  if ((mask_ & mask) == 0) return *this;
  MeshDims kept;
  for (int m : *this) {
    if (!((mask >> m) & 1u)) kept.push_back(m);
  }
  return kept;
}

int64_t MeshDims::parts(const ProcessMesh& mesh) const {
  int64_t parts = 1;
  for (int m : *this) parts *= mesh.dim_size(m);
  return parts;
}

Sharding Sharding::of(const TensorSpec& tensor) {
  Sharding sharding;
  const auto placements = tensor.attr->placements();
  const int mesh_ndim = static_cast<int>(placements.size());
  int max_order = 0;
  for (int m = 0; m < mesh_ndim; ++m) {
    const Placement& p = placements[m];
    if (p.is_partial()) {
      sharding.set_partial(m, p.reduce());
    } else if (p.is_shard()) {
      if (p.tensor_dim() >= tensor.ndim()) [[unlikely]]
        tensor.attr->check_fits(tensor.shape);
      if (p.order() == 0) {
        sharding.dims[p.tensor_dim()].push_back(m);
      } else {
        max_order = std::max(max_order, p.order());
      }
    }
  }
  // Orders are dense from 0, so appending in increasing order is right.
  for (int order = 1; order <= max_order; ++order) {
    for (int m = 0; m < mesh_ndim; ++m) {
      const Placement& p = placements[m];
      if (p.is_shard() && p.order() == order) sharding.dims[p.tensor_dim()].push_back(m);
    }
  }
  return sharding;
}

uint32_t Sharding::shard_mask() const {
  uint32_t mask = 0;
  for (const MeshDims& d : dims) mask |= d.mask();
  return mask;
}

const TensorDistAttr* Sharding::attr(const ProcessMesh& mesh) const {
  PlacementArray placements{};
  for (int d = 0; d < kMaxNdim; ++d) {
    int order = 0;
    for (int m : dims[d]) placements[m] = Shard(d, order++);
  }
  for (int m = 0; partial_mask >> m != 0; ++m) {
    if (((partial_mask >> m) & 1u) && placements[m].is_replicate()) {
      placements[m] = Partial(partial_kind[m]);
    }
  }
  return TensorDistAttr::get(mesh, std::span<const Placement>(placements.data(), mesh.ndim()));
}

}  // namespace phi::distributed
