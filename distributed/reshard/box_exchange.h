// TransferRoutes: which rank sends which box to which rank when a tensor moves from one attr to
// another. Pure arithmetic on meshes and splits, one rank at a time, so any rank of a job of any
// size can be queried.
//
// Every destination rank receives exactly the elements that it needs, once. If several ranks hold
// them, it uses its own copy if it has one; otherwise the source is a replica, chosen to balance
// the load.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "distributed/placement/split.h"

namespace phi::distributed {

/// A set of mesh dims, bit m for mesh dim m.
using MeshDimMask = uint32_t;
constexpr bool has(MeshDimMask dims, int mesh_dim) { return (dims >> mesh_dim & 1u) != 0; }

/// Whether `all` has the ranks 0 .. n - 1, and `part` some of them.
bool covers(const ProcessMesh& all, const ProcessMesh& part);

/// One box exchange. Partial mesh dims of `src` are either reduced on arrival or kept; a kept one
/// is paired with a partial mesh dim of `dst` of the same size.
struct BoxExchange {
  Dims shape;
  const TensorDistAttr* src = nullptr;
  const TensorDistAttr* dst = nullptr;
  MeshDimMask reduced = 0;                                           // of src
  std::array<int8_t, kMaxMeshNdim> kept_as{-1, -1, -1, -1, -1, -1};  // src mesh dim -> dst's
  MeshDimMask first_only = 0;  // of dst: only the ranks at coordinate 0 receive
};

/// One message: `box` (global coordinates) from or to rank `peer`, which may be the rank itself.
struct BoxTransfer {
  int64_t peer = 0;
  Box box;
  friend bool operator==(const BoxTransfer&, const BoxTransfer&) = default;
};

class TransferRoutes {
 public:
  explicit TransferRoutes(const BoxExchange& move);

  /// The transfers that `rank` receives. Where values are reduced, each run of contributions()
  /// transfers has one box; combine them in this order. Empty for a rank that receives nothing.
  std::vector<BoxTransfer> incoming(int64_t rank) const;
  /// The transfers that `rank` sends; at most one message per pair of ranks.
  std::vector<BoxTransfer> outgoing(int64_t rank) const;
  /// The product of the sizes of the reduced mesh dims.
  int64_t contributions() const { return contributions_; }

 private:
  // Part i of a tensor dim: its elements, and its coordinates in the mesh dims that split it.
  struct DimShard {
    ShardRange range;
    MeshCoord coord{};
  };
  // The parts of a tensor dim in ascending order, and the mesh dims that split it, outermost first.
  struct DimSplit {
    std::vector<int> mesh_dims;
    std::vector<DimShard> parts;
    int64_t index_of(const ProcessMesh& mesh, const MeshCoord& coord) const;
    /// The parts that overlap `range`, as [first, last + 1). An empty part in between overlaps
    /// nothing.
    std::pair<int64_t, int64_t> overlapping(const ShardRange& range) const;
  };
  static std::vector<DimSplit> splits_of(const Dims& shape, const TensorDistAttr& attr);

  int64_t source_for(int64_t dst_rank, const MeshCoord& dst_coord, MeshCoord fixed) const;
  int64_t request_index(const MeshCoord& dst_coord, const MeshCoord& fixed) const;
  bool receives(const MeshCoord& dst_coord) const;

  BoxExchange move_;
  std::vector<DimSplit> src_splits_;  // by tensor dim
  std::vector<DimSplit> dst_splits_;
  MeshDimMask free_ = 0;      // of src: replicas; any coordinate may send
  MeshDimMask dst_free_ = 0;  // of dst: replicas; all coordinates receive the same boxes
  int64_t contributions_ = 1;
};

/// Calls f(coord) for every assignment of the mesh dims in `dims`, in row-major order; the other
/// entries of `coord` stay fixed.
template <typename F>
void for_each_coord(const ProcessMesh& mesh, MeshDimMask dims, MeshCoord coord, F f) {
  for (int m = 0; m < mesh.ndim(); ++m) {
    if (has(dims, m)) coord[m] = 0;
  }
  for (;;) {
    f(static_cast<const MeshCoord&>(coord));
    int m = mesh.ndim() - 1;
    for (; m >= 0; --m) {
      if (!has(dims, m)) continue;
      if (++coord[m] < mesh.dim_size(m)) break;
      coord[m] = 0;
    }
    if (m < 0) return;
  }
}

}  // namespace phi::distributed
