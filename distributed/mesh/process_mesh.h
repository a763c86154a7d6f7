// ProcessMesh: an n-D array of ranks with named mesh dims.
//
//   ProcessMesh mesh({2, 4}, {"dp", "tp"});          // ranks 0..7 in row-major order
//   mesh.coord_of(5) == MeshCoord{1, 1};
//   mesh.sub_ranks(5, 1);                            // 4, 5, 6, 7
//
// A mesh is a handle on an immutable interned description: equal meshes are the same pointer, so
// comparing and hashing cost one word. A regular mesh (rank = offset + sum of coord * stride, which
// every slice of a row-major mesh is) stores no rank list: queries cost O(ndim) whatever its size.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phi::distributed {

inline constexpr int kMaxMeshNdim = 6;
/// Ranks of a mesh: coordinates are of 32 bits.
inline constexpr int64_t kMaxMeshSize = std::numeric_limits<int32_t>::max();

/// One coordinate per mesh dim; entries past the mesh's ndim are 0.
using MeshCoord = std::array<int32_t, kMaxMeshNdim>;

class ProcessMesh {
 public:
  /// The undefined mesh.
  ProcessMesh() = default;

  /// Ranks 0 .. product(shape)-1 in row-major order.
  /// Errors: InvalidArgument for an empty or non-positive shape, more than kMaxMeshNdim mesh dims
  /// or kMaxMeshSize ranks, names that are repeated or not one per mesh dim. Without names they are
  /// d0, d1, ...
  explicit ProcessMesh(const std::vector<int64_t>& shape,
                       const std::vector<std::string>& dim_names = {});

  /// The given ranks in row-major order of `shape`; each rank once, none negative.
  ProcessMesh(const std::vector<int64_t>& shape, const std::vector<std::string>& dim_names,
              const std::vector<int64_t>& ranks);

  bool defined() const { return desc_ != nullptr; }
  int ndim() const { return desc_->ndim; }
  int64_t size() const { return desc_->size; }
  int64_t dim_size(int mesh_dim) const { return desc_->shape[mesh_dim]; }
  std::vector<int64_t> shape() const;
  const std::vector<std::string>& dim_names() const { return desc_->names; }
  /// Errors: NotFound, listing the names there are.
  int dim_of(std::string_view name) const;

  /// The rank's position, or nothing if the rank is not in the mesh.
  std::optional<MeshCoord> coord_of(int64_t rank) const;
  bool contains(int64_t rank) const { return coord_of(rank).has_value(); }
  int64_t rank_at(const MeshCoord& coord) const;
  /// Row-major position <-> rank.
  int64_t rank_at(int64_t position) const;
  int64_t position_of(const MeshCoord& coord) const;
  MeshCoord coord_at(int64_t position) const;

  int64_t highest_rank() const;
  /// All ranks in row-major order; a list of size() entries is built.
  std::vector<int64_t> ranks() const;
  /// The ranks that differ from `rank` in `mesh_dim` only, in the order of that mesh dim.
  std::vector<int64_t> sub_ranks(int64_t rank, int mesh_dim) const;

  /// The slice with `mesh_dim` fixed at `index`; that mesh dim is dropped (a 1-D mesh keeps it with
  /// size 1). Errors: OutOfRange.
  ProcessMesh slice(int mesh_dim, int64_t index) const;

  bool is_regular() const { return desc_->ranks.empty(); }

  friend bool operator==(const ProcessMesh& a, const ProcessMesh& b) { return a.desc_ == b.desc_; }
  /// Identity for hashing; stable for the life of the process.
  const void* id() const { return desc_; }

  /// "mesh(dp=2,tp=4)"; with ranks when they are not 0..n-1: "mesh(tp=2; ranks 2,3)".
  std::string to_string() const;

  /// What a handle points to: made once per distinct mesh, never freed.
  struct Desc {
    int ndim = 0;
    int64_t size = 0;
    std::array<int64_t, kMaxMeshNdim> shape{};
    std::array<int64_t, kMaxMeshNdim> strides{};  // of ranks, regular meshes only
    int64_t offset = 0;
    std::vector<std::string> names;
    std::vector<int64_t> ranks;                                 // irregular meshes only, row-major
    std::vector<std::pair<int64_t, int64_t>> position_of_rank;  // irregular only, sorted by rank
  };

 private:
  explicit ProcessMesh(const Desc* desc) : desc_(desc) {}
  const Desc* desc_ = nullptr;
};

}  // namespace phi::distributed
