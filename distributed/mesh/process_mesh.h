// ProcessMesh: an n-D array of ranks with named mesh dims.
//
//   ProcessMesh mesh({2, 4}, {"dp", "tp"});          // ranks 0..7 in row-major order
//   mesh.coord_of(5) == MeshCoord{1, 1};
//   mesh.sub_ranks(5, 1);                            // 4, 5, 6, 7
//
// A mesh is a handle to an immutable interned description. Equal meshes are the same pointer, so
// comparing and hashing them costs one word. A regular mesh stores no rank list, and its queries
// cost O(ndim) at any size. In a regular mesh rank = offset + sum of coord * stride; every slice of
// a row-major mesh is regular.
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
/// The maximum number of ranks in a mesh: coordinates have 32 bits.
inline constexpr int64_t kMaxMeshSize = std::numeric_limits<int32_t>::max();

/// One coordinate per mesh dim; entries past the mesh's ndim are 0.
using MeshCoord = std::array<int32_t, kMaxMeshNdim>;

class ProcessMesh {
 public:
  /// Constructs the undefined mesh.
  ProcessMesh() = default;

  /// Ranks 0 .. product(shape)-1 in row-major order. Without names the mesh dims are d0, d1, ...
  ///
  /// Errors   InvalidArgument for an empty or non-positive shape, for more than kMaxMeshNdim mesh
  ///          dims or kMaxMeshSize ranks, and for names that repeat or are not one per mesh dim.
  explicit ProcessMesh(const std::vector<int64_t>& shape,
                       const std::vector<std::string>& dim_names = {});

  /// The given ranks in row-major order of `shape`. Each rank occurs once, and none is negative.
  ProcessMesh(const std::vector<int64_t>& shape, const std::vector<std::string>& dim_names,
              const std::vector<int64_t>& ranks);

  bool defined() const { return desc_ != nullptr; }
  int ndim() const { return desc_->ndim; }
  int64_t size() const { return desc_->size; }
  int64_t dim_size(int mesh_dim) const { return desc_->shape[mesh_dim]; }
  std::vector<int64_t> shape() const;
  const std::vector<std::string>& dim_names() const { return desc_->names; }
  /// Errors: NotFound, listing the names of this mesh.
  int dim_of(std::string_view name) const;

  /// The rank's coordinate; nullopt if the rank is not in the mesh.
  std::optional<MeshCoord> coord_of(int64_t rank) const;
  bool contains(int64_t rank) const { return coord_of(rank).has_value(); }
  int64_t rank_at(const MeshCoord& coord) const;
  /// Convert between a row-major position and a rank or coordinate.
  int64_t rank_at(int64_t position) const;
  int64_t position_of(const MeshCoord& coord) const;
  MeshCoord coord_at(int64_t position) const;

  int64_t highest_rank() const;
  /// All ranks in row-major order. Builds a list of size() entries.
  std::vector<int64_t> ranks() const;
  /// The ranks that differ from `rank` only in `mesh_dim`, in the order of that mesh dim.
  std::vector<int64_t> sub_ranks(int64_t rank, int mesh_dim) const;

  /// The sub-mesh with `mesh_dim` fixed at `index`. It drops that mesh dim; a 1-D mesh keeps it
  /// with size 1. Errors: OutOfRange.
  ProcessMesh slice(int mesh_dim, int64_t index) const;

  bool is_regular() const { return desc_->ranks.empty(); }
  /// The distance of two ranks that are neighbours along `mesh_dim`; 0 if it has size 1. Requires a
  /// regular mesh.
  int64_t stride(int mesh_dim) const { return desc_->strides[static_cast<size_t>(mesh_dim)]; }

  friend bool operator==(const ProcessMesh& a, const ProcessMesh& b) { return a.desc_ == b.desc_; }
  /// Identity for hashing; stable for the life of the process.
  const void* id() const { return desc_; }

  /// "mesh(dp=2,tp=4)"; with ranks when they are not 0..n-1: "mesh(tp=2; ranks 2,3)".
  std::string to_string() const;

  /// The interned description. One exists per distinct mesh; it is never freed.
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
