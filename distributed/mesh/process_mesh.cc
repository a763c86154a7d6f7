// Interns meshes, and converts between ranks and coordinates.
#include "distributed/mesh/process_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"

namespace phi::distributed {
namespace {

using Desc = ProcessMesh::Desc;

Desc describe(const std::vector<int64_t>& shape, const std::vector<std::string>& dim_names) {
  PHI_CHECK(!shape.empty() && shape.size() <= kMaxMeshNdim,
            errors::InvalidArgument("a mesh has 1 to {} mesh dims, this one has {}.", kMaxMeshNdim,
                                    shape.size()));
  Desc desc;
  desc.ndim = static_cast<int>(shape.size());
  desc.size = 1;
  for (int d = desc.ndim - 1; d >= 0; --d) {
    PHI_CHECK(shape[d] > 0,
              errors::InvalidArgument(
                  "mesh dim {} has size {}; every mesh dim needs at least 1 rank.", d, shape[d]));
    PHI_CHECK(shape[d] <= kMaxMeshSize / desc.size,
              errors::InvalidArgument(
                  "a mesh has at most {} ranks, but mesh dims {} to {} of [{}] have more.",
                  kMaxMeshSize, d, desc.ndim - 1, fmt::join(shape, ",")));
    desc.shape[d] = shape[d];
    desc.strides[d] = desc.size;
    desc.size *= shape[d];
  }
  desc.names = dim_names;
  for (int d = static_cast<int>(desc.names.size()); d < desc.ndim && dim_names.empty(); ++d) {
    desc.names.push_back("d" + std::to_string(d));
  }
  PHI_CHECK(
      static_cast<int>(desc.names.size()) == desc.ndim,
      errors::InvalidArgument("a mesh of {} mesh dims is given {} names; give one per mesh dim.",
                              desc.ndim, desc.names.size()));
  const std::set<std::string> distinct(desc.names.begin(), desc.names.end());
  PHI_CHECK(
      distinct.size() == desc.names.size(),
      errors::InvalidArgument("a mesh dim name is used twice in {}.", fmt::join(desc.names, ",")));
  return desc;
}

void check_ranks(const Desc& desc, const std::vector<int64_t>& ranks) {
  PHI_CHECK(static_cast<int64_t>(ranks.size()) == desc.size,
            errors::InvalidArgument("a mesh of {} positions is given {} ranks.", desc.size,
                                    ranks.size()));
  const std::set<int64_t> distinct(ranks.begin(), ranks.end());
  PHI_CHECK(
      distinct.size() == ranks.size() && *distinct.begin() >= 0,
      errors::InvalidArgument("the ranks of a mesh must be distinct and not negative; got {}.",
                              fmt::join(ranks, ",")));
}

// Finds the offset and strides of a regular rank list; returns false if `ranks` is irregular.
bool fit_regular(Desc& desc, const std::vector<int64_t>& ranks) {
  desc.offset = ranks[0];
  int64_t step = 1;  // distance in the list between neighbours along the mesh dim
  for (int d = desc.ndim - 1; d >= 0; --d) {
    desc.strides[d] = desc.shape[d] > 1 ? ranks[step] - ranks[0] : 0;
    step *= desc.shape[d];
  }
  std::array<int64_t, kMaxMeshNdim> coord{};
  for (int64_t rank : ranks) {
    int64_t expected = desc.offset;
    for (int d = 0; d < desc.ndim; ++d) expected += coord[d] * desc.strides[d];
    if (expected != rank) return false;
    for (int d = desc.ndim - 1; d >= 0 && ++coord[d] == desc.shape[d]; --d) coord[d] = 0;
  }
  return true;
}

// The stride of a mesh dim of size 1 has no effect; zero makes equal meshes equal.
void normalise(Desc& desc) {
  for (int d = 0; d < desc.ndim; ++d) {
    if (desc.shape[d] == 1) desc.strides[d] = 0;
  }
}

const Desc* intern(Desc desc) {
  using Key = std::tuple<std::array<int64_t, kMaxMeshNdim>, std::array<int64_t, kMaxMeshNdim>,
                         int64_t, std::vector<std::string>, std::vector<int64_t>>;
  static std::mutex mutex;
  static auto& table = *new std::map<Key, std::unique_ptr<const Desc>>;
  Key key{desc.shape, desc.strides, desc.offset, desc.names, desc.ranks};
  const std::lock_guard lock(mutex);
  auto& slot = table[std::move(key)];
  yield_point("process_mesh.intern.looked_up");
  if (!slot) slot = std::make_unique<const Desc>(std::move(desc));
  return slot.get();
}

// Mesh dims by decreasing stride: the order in which coord_of divides a rank's offset.
std::array<int, kMaxMeshNdim> by_falling_stride(const Desc& desc) {
  std::array<int, kMaxMeshNdim> order{};
  for (int d = 0; d < desc.ndim; ++d) {
    int at = d;
    while (at > 0 && desc.strides[order[at - 1]] < desc.strides[d]) {
      order[at] = order[at - 1];
      --at;
    }
    order[at] = d;
  }
  return order;
}

// In a regular mesh strides are positive and, in sorted order, each spans at least the dims inside
// it. Otherwise the division of an offset into coordinates would not be unique.
bool divisible_strides(const Desc& desc) {
  const auto order = by_falling_stride(desc);
  int64_t span = 0;
  for (int i = desc.ndim - 1; i >= 0; --i) {
    const int d = order[i];
    if (desc.shape[d] == 1) continue;
    if (desc.strides[d] <= span) return false;
    span += desc.strides[d] * (desc.shape[d] - 1);
  }
  return true;
}

}  // namespace

ProcessMesh::ProcessMesh(const std::vector<int64_t>& shape,
                         const std::vector<std::string>& dim_names) {
  Desc desc = describe(shape, dim_names);
  normalise(desc);
  desc_ = intern(std::move(desc));
}

ProcessMesh::ProcessMesh(const std::vector<int64_t>& shape,
                         const std::vector<std::string>& dim_names,
                         const std::vector<int64_t>& ranks) {
  Desc desc = describe(shape, dim_names);
  check_ranks(desc, ranks);
  if (!fit_regular(desc, ranks) || !divisible_strides(desc)) {
    desc.strides = {};
    desc.offset = 0;
    desc.ranks = ranks;
    for (size_t i = 0; i < ranks.size(); ++i) desc.position_of_rank.emplace_back(ranks[i], i);
    std::sort(desc.position_of_rank.begin(), desc.position_of_rank.end());
  }
  normalise(desc);
  desc_ = intern(std::move(desc));
}

// A regular mesh's strides are positive.
int64_t ProcessMesh::highest_rank() const {
  return is_regular() ? rank_at(size() - 1) : desc_->position_of_rank.back().first;
}

std::vector<int64_t> ProcessMesh::shape() const {
  return {desc_->shape.begin(), desc_->shape.begin() + ndim()};
}

int ProcessMesh::dim_of(std::string_view name) const {
  for (int d = 0; d < ndim(); ++d) {
    if (desc_->names[d] == name) return d;
  }
  throw errors::NotFound("{} has no mesh dim '{}'; it has {}.", to_string(), name,
                         fmt::join(desc_->names, ", "));
}

std::optional<MeshCoord> ProcessMesh::coord_of(int64_t rank) const {
  if (!desc_->ranks.empty()) {
    const auto& table = desc_->position_of_rank;
    const auto it =
        std::lower_bound(table.begin(), table.end(), std::pair<int64_t, int64_t>(rank, 0));
    if (it == table.end() || it->first != rank) return std::nullopt;
    return coord_at(it->second);
  }
  int64_t rest = rank - desc_->offset;
  if (rest < 0) return std::nullopt;
  MeshCoord coord{};
  for (int i = 0, order_ndim = ndim(); const int d : by_falling_stride(*desc_)) {
    if (i++ == order_ndim) break;
    if (desc_->shape[d] == 1) continue;
    const int64_t c = std::min(rest / desc_->strides[d], desc_->shape[d] - 1);
    coord[d] = static_cast<int32_t>(c);
    rest -= c * desc_->strides[d];
  }
  if (rest != 0) return std::nullopt;
  return coord;
}

int64_t ProcessMesh::rank_at(const MeshCoord& coord) const {
  if (!desc_->ranks.empty()) return desc_->ranks[position_of(coord)];
  int64_t rank = desc_->offset;
  for (int d = 0; d < ndim(); ++d) rank += coord[d] * desc_->strides[d];
  return rank;
}

int64_t ProcessMesh::rank_at(int64_t position) const { return rank_at(coord_at(position)); }

int64_t ProcessMesh::position_of(const MeshCoord& coord) const {
  int64_t position = 0;
  for (int d = 0; d < ndim(); ++d) position = position * desc_->shape[d] + coord[d];
  return position;
}

MeshCoord ProcessMesh::coord_at(int64_t position) const {
  MeshCoord coord{};
  for (int d = ndim() - 1; d >= 0; --d) {
    coord[d] = static_cast<int32_t>(position % desc_->shape[d]);
    position /= desc_->shape[d];
  }
  return coord;
}

std::vector<int64_t> ProcessMesh::ranks() const {
  if (!desc_->ranks.empty()) return desc_->ranks;
  std::vector<int64_t> ranks(size());
  for (int64_t i = 0; i < size(); ++i) ranks[i] = rank_at(i);
  return ranks;
}

std::vector<int64_t> ProcessMesh::sub_ranks(int64_t rank, int mesh_dim) const {
  auto coord = coord_of(rank);
  PHI_CHECK(coord, errors::InvalidArgument("rank {} is not in {}.", rank, to_string()));
  std::vector<int64_t> ranks(dim_size(mesh_dim));
  for (int64_t i = 0; i < dim_size(mesh_dim); ++i) {
    (*coord)[mesh_dim] = static_cast<int32_t>(i);
    ranks[i] = rank_at(*coord);
  }
  return ranks;
}

ProcessMesh ProcessMesh::slice(int mesh_dim, int64_t index) const {
  PHI_CHECK(mesh_dim >= 0 && mesh_dim < ndim() && index >= 0 && index < dim_size(mesh_dim),
            errors::OutOfRange("{} has no slice {} of mesh dim {}.", to_string(), index, mesh_dim));
  const bool keep = ndim() == 1;
  std::vector<int64_t> slice_shape;
  std::vector<std::string> names;
  for (int d = 0; d < ndim(); ++d) {
    if (d == mesh_dim && !keep) continue;
    slice_shape.push_back(d == mesh_dim ? 1 : dim_size(d));
    names.push_back(desc_->names[d]);
  }
  if (is_regular()) {
    Desc desc = describe(slice_shape, names);
    desc.offset = desc_->offset + index * desc_->strides[mesh_dim];
    for (int d = 0, out = 0; d < ndim(); ++d) {
      if (d != mesh_dim || keep) desc.strides[out++] = desc_->strides[d];
    }
    normalise(desc);
    return ProcessMesh(intern(std::move(desc)));
  }
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < size(); ++i) {
    const MeshCoord coord = coord_at(i);
    if (coord[mesh_dim] == index) ranks.push_back(rank_at(coord));
  }
  return ProcessMesh(slice_shape, names, ranks);
}

std::string ProcessMesh::to_string() const {
  if (!defined()) return "mesh(undefined)";
  std::string out = "mesh(";
  for (int d = 0; d < ndim(); ++d) {
    out += fmt::format("{}{}={}", d > 0 ? "," : "", desc_->names[d], desc_->shape[d]);
  }
  const bool counted = is_regular() && desc_->offset == 0 && rank_at(size() - 1) == size() - 1;
  if (!counted) {
    constexpr int64_t kShown = 16;
    out += "; ranks ";
    for (int64_t i = 0; i < std::min(size(), kShown); ++i) {
      out += (i > 0 ? "," : "") + std::to_string(rank_at(i));
    }
    if (size() > kShown) out += ",...";
  }
  return out + ")";
}

}  // namespace phi::distributed
