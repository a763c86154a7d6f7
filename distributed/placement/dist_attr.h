// TensorDistAttr: a tensor's sharding, as a mesh and one placement per mesh dim.
//
//   const TensorDistAttr* attr = TensorDistAttr::get(mesh, {Replicate(), Shard(0)});
//
// Attributes are immutable and interned: equal attributes are the same pointer, so compare and hash
// the pointers. Paddle's `dims_mapping` and partial view are derived from the placements.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"
#include "phi/core/box.h"

namespace phi::distributed {

/// Placements by mesh dim, stored inline; entries past the mesh's ndim are Replicate().
using PlacementArray = std::array<Placement, kMaxMeshNdim>;

/// dims_mapping[tensor dim] = the mesh dims that shard it, in splitting order; empty if unsharded.
using DimsMapping = std::vector<std::vector<int>>;

class TensorDistAttr {
 public:
  /// Returns the interned attribute. Missing placements are Replicate(). The orders of the shards
  /// of one tensor dim are renumbered to 0, 1, ..., so equivalent placements are one attribute.
  ///
  /// Errors   InvalidArgument for more placements than mesh dims, an undefined mesh, or a negative
  ///          tensor dim. Normalise negative dims with the tensor's ndim first.
  static const TensorDistAttr* get(const ProcessMesh& mesh, std::span<const Placement> placements);
  static const TensorDistAttr* get(const ProcessMesh& mesh,
                                   std::initializer_list<Placement> placements) {
    return get(mesh, std::span(placements.begin(), placements.size()));
  }
  /// Replicate() on every mesh dim.
  static const TensorDistAttr* replicated(const ProcessMesh& mesh) { return get(mesh, {}); }
  /// Converts Paddle's view. Errors: InvalidArgument if a mesh dim is used twice or is out of
  /// range.
  static const TensorDistAttr* from_dims_mapping(
      const ProcessMesh& mesh, const DimsMapping& mapping,
      const std::vector<std::pair<int, ReduceKind>>& partial);

  const ProcessMesh& mesh() const { return mesh_; }
  const Placement& placement(int mesh_dim) const { return placements_[mesh_dim]; }
  std::span<const Placement> placements() const {
    return {placements_.data(), size_t(mesh_.ndim())};
  }
  const PlacementArray& placement_array() const { return placements_; }
  bool is_replicated() const;
  bool has_partial() const;

  /// The mesh dims that shard `tensor_dim`, in splitting order.
  std::vector<int> mesh_dims_of(int tensor_dim) const;
  DimsMapping dims_mapping(int tensor_ndim) const;
  /// The mesh dims over which the tensor is partial, ascending.
  std::vector<int> partial_dims() const;

  /// Errors: InvalidArgument that names the mesh dim whose Shard(d) exceeds the tensor's dims.
  void check_fits(const Dims& global) const;
  /// "[S0,R] on mesh(dp=2,tp=4)"
  std::string to_string() const;

 private:
  friend struct AttrTable;
  TensorDistAttr(const ProcessMesh& mesh, const PlacementArray& placements)
      : mesh_(mesh), placements_(placements) {}

  ProcessMesh mesh_;
  PlacementArray placements_;
};

/// The box of a tensor of shape `global` that the rank at `coord` holds. If several mesh dims shard
/// a tensor dim, the first splits it, the second splits each part, and so on, by split_range.
Box local_box(const Dims& global, const TensorDistAttr& attr, const MeshCoord& coord);

/// The shape of that box; nullopt if `rank` is not in the mesh.
std::optional<Dims> local_shape(const Dims& global, const TensorDistAttr& attr, int64_t rank);

/// "f32[64,32] [S0,R] on mesh(dp=2,tp=4)" is dtype + describe(...).
std::string describe(const Dims& global, const TensorDistAttr& attr);

}  // namespace phi::distributed
