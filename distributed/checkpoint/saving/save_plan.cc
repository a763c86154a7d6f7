// Enumerates shards and their replicas.
#include "distributed/checkpoint/saving/save_plan.h"

#include <algorithm>
#include <numeric>

namespace phi::distributed::checkpoint {
namespace {

// The mesh dims along which a tensor's parts differ, or those along which they are replicas.
enum class DimRole { kShards, kReplicas };

// Calls f for all coordinates that differ from `coord` only along these mesh dims.
template <typename F>
void for_each_coord_along(DimRole role, const TensorDistAttr& attr, MeshCoord coord, const F& f,
                          int mesh_dim = 0) {
  if (mesh_dim == attr.mesh().ndim()) return f(coord);
  if (attr.placement(mesh_dim).is_shard() != (role == DimRole::kShards)) {
    return for_each_coord_along(role, attr, coord, f, mesh_dim + 1);
  }
  for (int64_t i = 0; i < attr.mesh().dim_size(mesh_dim); ++i) {
    coord[mesh_dim] = static_cast<int32_t>(i);
    for_each_coord_along(role, attr, coord, f, mesh_dim + 1);
  }
}

struct Shard {
  PlannedPiece piece;
  MeshCoord first_holder;
  size_t bytes;
};

void append_shards(size_t tensor, const TensorLayout& layout, std::vector<Shard>* shards) {
  const TensorDistAttr& attr = *layout.attr;
  if (layout.meta.numel() == 0) {
    shards->push_back({{tensor, Box::whole(layout.meta.dims), 0}, {}, 0});
    return;
  }
  const size_t first = shards->size();
  for_each_coord_along(DimRole::kShards, attr, {}, [&](const MeshCoord& coord) {
    const Box box = local_box(layout.meta.dims, attr, coord);
    if (box.empty()) return;
    shards->push_back({{tensor, box, 0}, coord, box.numel() * size_of(layout.meta.dtype)});
  });
  std::sort(shards->begin() + static_cast<int64_t>(first), shards->end(),
            [](const Shard& a, const Shard& b) {
              return std::ranges::lexicographical_compare(a.piece.box.offset, b.piece.box.offset);
            });
}

}  // namespace

std::vector<PlannedPiece> plan_save(std::span<const TensorLayout> tensors, int64_t world_size) {
  std::vector<Shard> shards;
  for (size_t t = 0; t < tensors.size(); ++t) append_shards(t, tensors[t], &shards);

  std::vector<size_t> largest_first(shards.size());
  std::iota(largest_first.begin(), largest_first.end(), size_t{0});
  std::ranges::stable_sort(largest_first, std::ranges::greater(),
                           [&](size_t i) { return shards[i].bytes; });
  std::vector<size_t> load(static_cast<size_t>(world_size));
  for (size_t i : largest_first) {
    Shard& shard = shards[i];
    const TensorDistAttr& attr = *tensors[shard.piece.tensor].attr;
    int64_t writer = -1;
    for_each_coord_along(DimRole::kReplicas, attr, shard.first_holder, [&](const MeshCoord& coord) {
      const int64_t holder = attr.mesh().rank_at(coord);
      if (writer < 0 || load[holder] < load[writer]) writer = holder;
    });
    shard.piece.writer = writer;
    load[writer] += shard.bytes;
  }

  std::vector<PlannedPiece> plan;
  plan.reserve(shards.size());
  for (const Shard& shard : shards) plan.push_back(shard.piece);
  return plan;
}

}  // namespace phi::distributed::checkpoint
