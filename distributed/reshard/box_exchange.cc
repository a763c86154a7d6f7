// Enumerates overlapping boxes. Each side has a sorted list of parts per tensor dim; its boxes are
// the Cartesian product of these lists.
#include "distributed/reshard/box_exchange.h"

#include <algorithm>

namespace phi::distributed {
namespace {

// Calls f(indices) for every combination of one index per tensor dim within [first, last).
template <typename F>
void for_each_combination(const std::vector<std::pair<int64_t, int64_t>>& ranges, F f) {
  std::vector<int64_t> index;
  for (const auto& [first, last] : ranges) {
    if (first >= last) return;
    index.push_back(first);
  }
  for (;;) {
    f(index);
    int d = static_cast<int>(index.size()) - 1;
    for (; d >= 0; --d) {
      if (++index[d] < ranges[d].second) break;
      index[d] = ranges[d].first;
    }
    if (d < 0) return;
  }
}

}  // namespace

bool covers(const ProcessMesh& all, const ProcessMesh& part) {
  const bool is_world =
      all.is_regular() && all.rank_at(0) == 0 && all.highest_rank() == all.size() - 1;
  return is_world && part.is_regular() && part.highest_rank() < all.size();
}

std::vector<TransferRoutes::DimSplit> TransferRoutes::splits_of(const Dims& shape,
                                                                const TensorDistAttr& attr) {
  std::vector<DimSplit> splits(static_cast<size_t>(shape.ndim()));
  for (int t = 0; t < shape.ndim(); ++t) {
    DimSplit& split = splits[t];
    split.mesh_dims = attr.mesh_dims_of(t);
    split.parts = {{{0, shape[t]}, {}}};
    for (int m : split.mesh_dims) {
      std::vector<DimShard> finer;
      const int64_t k = attr.mesh().dim_size(m);
      finer.reserve(split.parts.size() * static_cast<size_t>(k));
      for (const DimShard& part : split.parts) {
        for (int64_t i = 0; i < k; ++i) {
          const ShardRange inner = split_range(part.range.size, k, i);
          finer.push_back({{part.range.offset + inner.offset, inner.size}, part.coord});
          finer.back().coord[m] = static_cast<int32_t>(i);
        }
      }
      split.parts = std::move(finer);
    }
  }
  return splits;
}

int64_t TransferRoutes::DimSplit::index_of(const ProcessMesh& mesh, const MeshCoord& coord) const {
  int64_t index = 0;
  for (int m : mesh_dims) index = index * mesh.dim_size(m) + coord[m];
  return index;
}

std::pair<int64_t, int64_t> TransferRoutes::DimSplit::overlapping(const ShardRange& range) const {
  if (range.size == 0) return {0, 0};
  const auto first = std::partition_point(
      parts.begin(), parts.end(), [&](const DimShard& p) { return p.range.end() <= range.offset; });
  const auto last = std::partition_point(
      first, parts.end(), [&](const DimShard& p) { return p.range.offset < range.end(); });
  return {first - parts.begin(), last - parts.begin()};
}

TransferRoutes::TransferRoutes(const BoxExchange& move)
    : move_(move),
      src_splits_(splits_of(move.shape, *move.src)),
      dst_splits_(splits_of(move.shape, *move.dst)) {
  for (int m = 0; m < move.src->mesh().ndim(); ++m) {
    if (move.src->placement(m).is_replicate()) free_ |= 1u << m;
    if (has(move.reduced, m)) contributions_ *= move.src->mesh().dim_size(m);
  }
  MeshDimMask kept = 0;
  for (int8_t m : move.kept_as) {
    if (m >= 0) kept |= 1u << m;
  }
  for (int m = 0; m < move.dst->mesh().ndim(); ++m) {
    if (!move.dst->placement(m).is_shard() && !has(kept | move.first_only, m)) dst_free_ |= 1u << m;
  }
}

bool TransferRoutes::receives(const MeshCoord& dst_coord) const {
  for (int m = 0; m < kMaxMeshNdim; ++m) {
    if (has(move_.first_only, m) && dst_coord[m] != 0) return false;
  }
  return true;
}

// This rank's index among the ranks that request the same source part; it selects the replica.
int64_t TransferRoutes::request_index(const MeshCoord& dst_coord, const MeshCoord& fixed) const {
  const ProcessMesh& src_mesh = move_.src->mesh();
  const ProcessMesh& dst_mesh = move_.dst->mesh();
  int64_t index = 0;
  for (size_t t = 0; t < src_splits_.size(); ++t) {
    const DimShard& part = src_splits_[t].parts[src_splits_[t].index_of(src_mesh, fixed)];
    const auto [first, last] = dst_splits_[t].overlapping(part.range);
    index = index * (last - first) + dst_splits_[t].index_of(dst_mesh, dst_coord) - first;
  }
  for (int m = 0; m < dst_mesh.ndim(); ++m) {
    if (has(dst_free_, m)) index = index * dst_mesh.dim_size(m) + dst_coord[m];
  }
  return index;
}

// Chooses the coordinates in the free mesh dims of src; `fixed` has the others.
int64_t TransferRoutes::source_for(int64_t dst_rank, const MeshCoord& dst_coord,
                                   MeshCoord fixed) const {
  const ProcessMesh& mesh = move_.src->mesh();
  if (free_ == 0) return mesh.rank_at(fixed);
  if (const auto own = mesh.coord_of(dst_rank)) {
    // Use the rank itself if its fixed coordinates are equal. Otherwise use a rank with its free
    // coordinates, so that traffic stays within the mesh dims that change.
    for (int m = 0; m < mesh.ndim(); ++m) {
      if (has(free_, m)) fixed[m] = (*own)[m];
    }
    return mesh.rank_at(fixed);
  }
  if (covers(move_.dst->mesh(), mesh)) {
    // Use the replica with the coordinates of dst_rank in the mesh that src is a slice of, so that
    // all replicas send equally much.
    for (int m = 0; m < mesh.ndim(); ++m) {
      if (has(free_, m) && mesh.dim_size(m) > 1)
        fixed[m] = static_cast<int32_t>(dst_rank / mesh.stride(m) % mesh.dim_size(m));
    }
    return mesh.rank_at(fixed);
  }
  int64_t index = request_index(dst_coord, fixed);
  for (int m = mesh.ndim() - 1; m >= 0; --m) {
    if (!has(free_, m)) continue;
    fixed[m] = static_cast<int32_t>(index % mesh.dim_size(m));
    index /= mesh.dim_size(m);
  }
  return mesh.rank_at(fixed);
}

std::vector<BoxTransfer> TransferRoutes::incoming(int64_t rank) const {
  const auto coord = move_.dst->mesh().coord_of(rank);
  if (!coord || !receives(*coord)) return {};
  const Box wanted = local_box(move_.shape, *move_.dst, *coord);
  if (wanted.empty()) return {};
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t t = 0; t < src_splits_.size(); ++t) {
    const int d = static_cast<int>(t);
    ranges.push_back(src_splits_[t].overlapping({wanted.offset[d], wanted.size[d]}));
  }
  MeshCoord kept{};
  for (int m = 0; m < kMaxMeshNdim; ++m) {
    if (move_.kept_as[m] >= 0) kept[m] = (*coord)[move_.kept_as[m]];
  }
  std::vector<BoxTransfer> transfers;
  for_each_combination(ranges, [&](const std::vector<int64_t>& index) {
    Box part = wanted;
    MeshCoord fixed = kept;
    for (size_t t = 0; t < index.size(); ++t) {
      const DimShard& p = src_splits_[t].parts[index[t]];
      part.offset[static_cast<int>(t)] = p.range.offset;
      part.size[static_cast<int>(t)] = p.range.size;
      for (int m : src_splits_[t].mesh_dims) fixed[m] = p.coord[m];
    }
    const Box box = intersect(wanted, part);
    if (box.empty()) return;
    for_each_coord(move_.src->mesh(), move_.reduced, fixed, [&](const MeshCoord& from) {
      transfers.push_back({source_for(rank, *coord, from), box});
    });
  });
  return transfers;
}

std::vector<BoxTransfer> TransferRoutes::outgoing(int64_t rank) const {
  const auto coord = move_.src->mesh().coord_of(rank);
  if (!coord) return {};
  const Box held = local_box(move_.shape, *move_.src, *coord);
  if (held.empty()) return {};
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t t = 0; t < dst_splits_.size(); ++t) {
    const int d = static_cast<int>(t);
    ranges.push_back(dst_splits_[t].overlapping({held.offset[d], held.size[d]}));
  }
  MeshCoord kept{};
  for (int m = 0; m < kMaxMeshNdim; ++m) {
    if (move_.kept_as[m] >= 0) kept[move_.kept_as[m]] = (*coord)[m];
  }
  const ProcessMesh& to_mesh = move_.dst->mesh();
  std::vector<BoxTransfer> transfers;
  for_each_combination(ranges, [&](const std::vector<int64_t>& index) {
    Box part = held;
    MeshCoord to = kept;
    for (size_t t = 0; t < index.size(); ++t) {
      const DimShard& p = dst_splits_[t].parts[index[t]];
      part.offset[static_cast<int>(t)] = p.range.offset;
      part.size[static_cast<int>(t)] = p.range.size;
      for (int m : dst_splits_[t].mesh_dims) to[m] = p.coord[m];
    }
    const Box box = intersect(held, part);
    if (box.empty()) return;
    for_each_coord(to_mesh, dst_free_, to, [&](const MeshCoord& dst_coord) {
      const int64_t dst_rank = to_mesh.rank_at(dst_coord);
      if (source_for(dst_rank, dst_coord, *coord) == rank) transfers.push_back({dst_rank, box});
    });
  });
  return transfers;
}

}  // namespace phi::distributed
