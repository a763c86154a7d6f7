// Chooses a common sharding, mesh dim by mesh dim.
#include "distributed/spmd/align.h"

#include <algorithm>
#include <vector>

namespace phi::distributed {
namespace {

bool is_empty(const TensorSpec& tensor) { return tensor.shape.numel() == 0; }

bool agree_on(std::span<const TensorSpec> tensors, const TensorSpec& first, int mesh_dim) {
  const Placement& p = first.attr->placement(mesh_dim);
  return std::all_of(tensors.begin(), tensors.end(), [&](const TensorSpec& t) {
    const Placement& q = t.attr->placement(mesh_dim);
    return is_empty(t) || (p.kind() == q.kind() && p.tensor_dim() == q.tensor_dim() &&
                           (!p.is_partial() || p.reduce() == q.reduce()));
  });
}

// Elements of the largest shard times the mesh dim's size: the volume of an all-to-all along it.
double moved_elements(const TensorSpec& tensor, int mesh_dim) {
  const ProcessMesh& mesh = tensor.attr->mesh();
  double elements = 1;
  for (int d = 0; d < tensor.ndim(); ++d) {
    int64_t size = tensor.shape[d];
    for (int m = 0; m < mesh.ndim(); ++m) {
      const int64_t parts = mesh.dim_size(m);
      if (tensor.attr->placement(m).is_shard(d)) size = (size + parts - 1) / parts;
    }
    elements *= static_cast<double>(size);
  }
  return elements * static_cast<double>(mesh.dim_size(mesh_dim));
}

bool splits(const TensorDistAttr& attr, int tensor_dim) {
  const auto placements = attr.placements();
  return std::any_of(placements.begin(), placements.end(),
                     [&](const Placement& p) { return p.is_shard(tensor_dim); });
}

// The unsplit tensor dim for which splitting over `mesh_dim` moves least; -1 if none is large
// enough.
int cheapest_dim(std::span<const TensorSpec> tensors, int ndim, int mesh_dim, uint32_t taken) {
  int best = -1;
  double best_cost = 0;
  for (int d = 0; d < ndim; ++d) {
    if ((taken >> d) & 1u) continue;
    double cost = 0;
    bool fits = true;
    for (const TensorSpec& tensor : tensors) {
      if (is_empty(tensor)) continue;
      fits &= tensor.shape[d] >= tensor.attr->mesh().dim_size(mesh_dim);
      if (!splits(*tensor.attr, d)) cost += moved_elements(tensor, mesh_dim);
    }
    if (!fits || (best >= 0 && cost >= best_cost)) continue;
    best = d;
    best_cost = cost;
  }
  return best;
}

}  // namespace

Sharding align(std::span<const TensorSpec> tensors, uint32_t whole_dims) {
  const auto filled =
      std::find_if(tensors.begin(), tensors.end(), [](const auto& t) { return !is_empty(t); });
  const TensorSpec& first = filled == tensors.end() ? tensors[0] : *filled;
  const int mesh_ndim = first.attr->mesh().ndim();
  Sharding result;
  uint32_t taken = whole_dims;
  uint32_t disagreed = 0;
  for (int m = 0; m < mesh_ndim; ++m) {
    const Placement& p = first.attr->placement(m);
    if (!agree_on(tensors, first, m)) {
      disagreed |= 1u << m;
    } else if (p.is_shard() && !((whole_dims >> p.tensor_dim()) & 1u)) {
      taken |= 1u << p.tensor_dim();
    } else if (p.is_partial() &&
               (p.reduce() == ReduceKind::kSum || p.reduce() == ReduceKind::kAvg)) {
      result.set_partial(m, p.reduce());
    }
  }
  const Sharding given = Sharding::of(first);
  for (int d = 0; d < first.ndim(); ++d) {
    if (!((whole_dims >> d) & 1u)) result.dims[d] = given.dims[d].without(disagreed);
  }
  for (int m = 0; m < mesh_ndim; ++m) {
    if (!((disagreed >> m) & 1u)) continue;
    const int d = cheapest_dim(tensors, first.ndim(), m, taken);
    if (d < 0) continue;
    result.dims[d] = MeshDims(m);
    taken |= 1u << d;
  }
  return result;
}

}  // namespace phi::distributed
