// TensorDistAttr: how one tensor lies on a mesh, as mesh + one placement per mesh dim.
//
//   const TensorDistAttr* attr = TensorDistAttr::get(mesh, {Replicate(), Shard(0)});
//
// Attributes are immutable and interned: equal attributes are the same pointer, so they are
// compared and hashed as pointers. The `dims_mapping` / partial view that Paddle users know is
// derived.
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

/// Placements by mesh dim, held inline; entries past the mesh's ndim are Replicate().
using PlacementArray = std::array<Placement, kMaxMeshNdim>;

/// dims_mapping[tensor dim] = the mesh dims that shard it, in splitting order; empty: not sharded.
using DimsMapping = std::vector<std::vector<int>>;

class TensorDistAttr {
 public:
  /// Fewer placements than mesh dims are filled up with Replicate(). The orders of shards of one
  /// tensor dim are renumbered 0, 1, ... so that equal meanings are equal attributes.
  /// Errors: InvalidArgument for more placements than mesh dims, an undefined mesh, or a negative
  /// tensor dim (normalise negative dims with the tensor's ndim first).
  static const TensorDistAttr* get(const ProcessMesh& mesh, std::span<const Placement> placements);
  static const TensorDistAttr* get(const ProcessMesh& mesh,
                                   std::initializer_list<Placement> placements) {
    return get(mesh, std::span(placements.begin(), placements.size()));
  }
  /// Every mesh dim Replicate().
  static const TensorDistAttr* replicated(const ProcessMesh& mesh) { return get(mesh, {}); }
  /// From Paddle's view. Errors: InvalidArgument if a mesh dim is used twice or is out of range.
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
  /// Ascending mesh dims over which the tensor is a partial value.
  std::vector<int> partial_dims() const;

  /// Errors: InvalidArgument naming the mesh dim whose Shard(d) the tensor has no dim for.
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

/// The part of a tensor of shape `global` that the rank at `coord` holds. A tensor dim sharded over
/// several mesh dims is split by the first, then each part by the second, ... (split_range each).
Box local_box(const Dims& global, const TensorDistAttr& attr, const MeshCoord& coord);

/// The size of that part; nothing if `rank` is not in the mesh.
std::optional<Dims> local_shape(const Dims& global, const TensorDistAttr& attr, int64_t rank);

/// "f32[64,32] [S0,R] on mesh(dp=2,tp=4)" is dtype + describe(...).
std::string describe(const Dims& global, const TensorDistAttr& attr);

}  // namespace phi::distributed
