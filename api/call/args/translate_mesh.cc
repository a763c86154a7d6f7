// Translates placements to another mesh.
#include "api/call/args/translate_mesh.h"

namespace phi {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

bool same_shape(const ProcessMesh& a, const ProcessMesh& b) {
  if (a.ndim() != b.ndim()) return false;
  for (int m = 0; m < a.ndim(); ++m) {
    if (a.dim_size(m) != b.dim_size(m)) return false;
  }
  return true;
}

}  // namespace

const TensorDistAttr* translate_to_mesh(const TensorDistAttr& attr, const ProcessMesh& mesh) {
  const ProcessMesh& from = attr.mesh();
  const bool by_position = same_shape(from, mesh);
  distributed::PlacementArray placements{};
  for (int m = 0; m < mesh.ndim(); ++m) {
    int source = by_position ? m : -1;
    for (int f = 0; !by_position && f < from.ndim(); ++f) {
      if (from.dim_names()[f] == mesh.dim_names()[m]) source = f;
    }
    if (source >= 0 && attr.placement(source).is_shard()) placements[m] = attr.placement(source);
  }
  return TensorDistAttr::get(mesh, std::span<const Placement>(placements.data(), mesh.ndim()));
}

}  // namespace phi
