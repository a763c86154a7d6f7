// Interns attributes, and computes the boxes that ranks hold.
#include "distributed/placement/dist_attr.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "distributed/placement/split.h"
#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"

namespace phi::distributed {
namespace {

// Renumbers the orders of the mesh dims that shard one tensor dim to 0, 1, ...
void normalise_orders(PlacementArray& placements, int mesh_ndim) {
  const PlacementArray given = placements;
  const auto splits_before = [&](int a, int b) {
    return given[a].order() != given[b].order() ? given[a].order() < given[b].order() : a < b;
  };
  for (int m = 0; m < mesh_ndim; ++m) {
    if (!given[m].is_shard()) continue;
    int order = 0;
    for (int other = 0; other < mesh_ndim; ++other) {
      if (other != m && given[other].is_shard(given[m].tensor_dim()) && splits_before(other, m))
        ++order;
    }
    placements[m] = Shard(given[m].tensor_dim(), order);
  }
}

struct AttrKey {
  const void* mesh;
  PlacementArray placements;
  friend bool operator==(const AttrKey&, const AttrKey&) = default;
};

struct AttrKeyHash {
  size_t operator()(const AttrKey& key) const {
    static_assert(sizeof(Placement) == 4 && sizeof(PlacementArray) % 8 == 0);
    std::array<uint64_t, sizeof(PlacementArray) / 8> words;
    std::memcpy(words.data(), key.placements.data(), sizeof(words));
    uint64_t h = reinterpret_cast<uintptr_t>(key.mesh);
    for (uint64_t w : words) h = (h ^ w) * 0x9e3779b97f4a7c15u + (h >> 29);
    return h;
  }
};

}  // namespace

// Attributes are never freed. Each thread has its own index of the shared table, so a lookup on a
// hot path takes no lock.
struct AttrTable {
  std::mutex mutex;
  std::unordered_map<AttrKey, std::unique_ptr<const TensorDistAttr>, AttrKeyHash> attrs;

  static const TensorDistAttr* find_or_add(const AttrKey& key, const ProcessMesh& mesh) {
    thread_local std::unordered_map<AttrKey, const TensorDistAttr*, AttrKeyHash> seen;
    auto [it, fresh] = seen.try_emplace(key, nullptr);
    if (!fresh) return it->second;
    static auto& table = *new AttrTable;
    yield_point("dist_attr.intern.unlocked");
    const std::lock_guard lock(table.mutex);
    auto& slot = table.attrs[key];
    yield_point("dist_attr.intern.looked_up");
    if (!slot) slot.reset(new TensorDistAttr(mesh, key.placements));
    return it->second = slot.get();
  }
};

const TensorDistAttr* TensorDistAttr::get(const ProcessMesh& mesh,
                                          std::span<const Placement> placements) {
  PHI_CHECK(mesh.defined(), errors::InvalidArgument("placements are given without a mesh."));
  PHI_CHECK(static_cast<int>(placements.size()) <= mesh.ndim(),
            errors::InvalidArgument("{} placements are given for {}, which has {} mesh dims.",
                                    placements.size(), mesh.to_string(), mesh.ndim()));
  PlacementArray array{};
  for (size_t m = 0; m < placements.size(); ++m) {
    PHI_CHECK(!placements[m].is_shard() ||
                  (placements[m].tensor_dim() >= 0 && placements[m].tensor_dim() < kMaxNdim),
              errors::InvalidArgument("Shard({}) on mesh dim '{}' names no tensor dim.",
                                      placements[m].tensor_dim(), mesh.dim_names()[m]));
    array[m] = placements[m];
  }
  normalise_orders(array, mesh.ndim());
  return AttrTable::find_or_add({mesh.id(), array}, mesh);
}

const TensorDistAttr* TensorDistAttr::from_dims_mapping(
    const ProcessMesh& mesh, const DimsMapping& mapping,
    const std::vector<std::pair<int, ReduceKind>>& partial) {
  PlacementArray array{};
  const auto take = [&](int mesh_dim, Placement placement) {
    PHI_CHECK(
        mesh_dim >= 0 && mesh_dim < mesh.ndim(),
        errors::InvalidArgument("mesh dim {} does not exist in {}.", mesh_dim, mesh.to_string()));
    PHI_CHECK(array[mesh_dim].is_replicate(),
              errors::InvalidArgument("mesh dim '{}' of {} is used twice: as {} and as {}.",
                                      mesh.dim_names()[mesh_dim], mesh.to_string(),
                                      array[mesh_dim].to_string(), placement.to_string()));
    array[mesh_dim] = placement;
  };
  for (size_t d = 0; d < mapping.size(); ++d) {
    for (size_t order = 0; order < mapping[d].size(); ++order) {
      take(mapping[d][order], Shard(static_cast<int>(d), static_cast<int>(order)));
    }
  }
  for (const auto& [mesh_dim, kind] : partial) take(mesh_dim, Partial(kind));
  return get(mesh, std::span<const Placement>(array.data(), mesh.ndim()));
}

bool TensorDistAttr::is_replicated() const {
  return std::all_of(placements_.begin(), placements_.end(),
                     [](const auto& p) { return p.is_replicate(); });
}

bool TensorDistAttr::has_partial() const {
  return std::any_of(placements_.begin(), placements_.end(),
                     [](const auto& p) { return p.is_partial(); });
}

std::vector<int> TensorDistAttr::mesh_dims_of(int tensor_dim) const {
  std::array<int, kMaxMeshNdim> by_order{};
  int count = 0;
  for (int m = 0; m < mesh_.ndim(); ++m) {
    if (placements_[m].is_shard(tensor_dim)) {
      by_order[placements_[m].order()] = m;
      ++count;
    }
  }
  return {by_order.begin(), by_order.begin() + count};
}

DimsMapping TensorDistAttr::dims_mapping(int tensor_ndim) const {
  DimsMapping mapping(tensor_ndim);
  for (int d = 0; d < tensor_ndim; ++d) mapping[d] = mesh_dims_of(d);
  return mapping;
}

std::vector<int> TensorDistAttr::partial_dims() const {
  std::vector<int> dims;
  for (int m = 0; m < mesh_.ndim(); ++m) {
    if (placements_[m].is_partial()) dims.push_back(m);
  }
  return dims;
}

void TensorDistAttr::check_fits(const Dims& global) const {
  for (int m = 0; m < mesh_.ndim(); ++m) {
    PHI_CHECK(
        !placements_[m].is_shard() || placements_[m].tensor_dim() < global.ndim(),
        errors::InvalidArgument("{} shards tensor dim {} over mesh dim '{}', but the tensor {} has "
                                "{} dims; use Shard(0) to Shard({}).",
                                to_string(), placements_[m].tensor_dim(), mesh_.dim_names()[m],
                                global.to_string(), global.ndim(), global.ndim() - 1));
  }
}

std::string TensorDistAttr::to_string() const {
  std::string out = "[";
  for (int m = 0; m < mesh_.ndim(); ++m) {
    if (m > 0) out += ',';
    out += placements_[m].to_string();
  }
  return out + "] on " + mesh_.to_string();
}

Box local_box(const Dims& global, const TensorDistAttr& attr, const MeshCoord& coord) {
  Box box = Box::whole(global);
  const int mesh_ndim = attr.mesh().ndim();
  // Orders are dense from 0: apply splitting order 0 of every tensor dim first, then 1, ...
  for (int order = 0, left = mesh_ndim; left > 0 && order < mesh_ndim; ++order) {
    left = 0;
    for (int m = 0; m < mesh_ndim; ++m) {
      const Placement& p = attr.placement(m);
      if (!p.is_shard() || p.order() < order) continue;
      if (p.order() > order) {
        ++left;
        continue;
      }
      const int d = p.tensor_dim();
      const ShardRange part = split_range(box.size[d], attr.mesh().dim_size(m), coord[m]);
      box.offset[d] += part.offset;
      box.size[d] = part.size;
    }
  }
  return box;
}

std::optional<Dims> local_shape(const Dims& global, const TensorDistAttr& attr, int64_t rank) {
  const auto coord = attr.mesh().coord_of(rank);
  if (!coord) return std::nullopt;
  return local_box(global, attr, *coord).size;
}

std::string describe(const Dims& global, const TensorDistAttr& attr) {
  return global.to_string() + " " + attr.to_string();
}

}  // namespace phi::distributed
