// Sharding: a TensorDistAttr by tensor dim: for each tensor dim, the mesh dims that split it.
//
// Rules compute in this form. It is stored inline, without heap memory.
#pragma once

#include <array>
#include <cstdint>

#include "distributed/placement/dist_attr.h"
#include "distributed/spmd/spec.h"

namespace phi::distributed {

/// An ordered set of mesh dims; the first splits first.
class MeshDims {
 public:
  MeshDims() = default;
  explicit MeshDims(int mesh_dim) { push_back(mesh_dim); }

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int operator[](int i) const { return dims_[i]; }
  const uint8_t* begin() const { return dims_.data(); }
  const uint8_t* end() const { return dims_.data() + count_; }
  void push_back(int mesh_dim) {
    dims_[count_++] = static_cast<uint8_t>(mesh_dim);
    mask_ |= static_cast<uint8_t>(1u << mesh_dim);
  }
  /// Bit m is set if mesh dim m is in the set.
  uint32_t mask() const { return mask_; }
  bool contains(int mesh_dim) const { return (mask_ >> mesh_dim) & 1u; }
  /// A copy without the mesh dims in `mask`.
  MeshDims without(uint32_t mask) const;
  /// The number of parts into which these mesh dims split a tensor dim.
  int64_t parts(const ProcessMesh& mesh) const;

  friend bool operator==(const MeshDims& a, const MeshDims& b) {
    if (a.count_ != b.count_) return false;
    for (int i = 0; i < a.count_; ++i) {
      if (a.dims_[i] != b.dims_[i]) return false;
    }
    return true;
  }

 private:
  uint8_t count_ = 0;
  uint8_t mask_ = 0;
  std::array<uint8_t, kMaxMeshNdim> dims_{};
};

struct Sharding {
  std::array<MeshDims, kMaxNdim> dims{};
  std::array<ReduceKind, kMaxMeshNdim> partial_kind{};  // for the mesh dims in partial_mask
  uint32_t partial_mask = 0;

  /// The sharding of a tensor, whose `attr` must not be null. Errors: InvalidArgument if it shards
  /// a dim that the tensor lacks.
  static Sharding of(const TensorSpec& tensor);

  void set_partial(int mesh_dim, ReduceKind kind) {
    partial_mask |= 1u << mesh_dim;
    partial_kind[mesh_dim] = kind;
  }
  /// The mesh dims that split some tensor dim.
  uint32_t shard_mask() const;
  const TensorDistAttr* attr(const ProcessMesh& mesh) const;
};

}  // namespace phi::distributed
