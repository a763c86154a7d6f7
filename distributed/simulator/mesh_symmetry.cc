// Reads groups as products of coordinates.
#include "distributed/simulator/mesh_symmetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "phi/common/errors.h"

namespace phi::distributed::simulator {
namespace {

using Coordinates = std::vector<std::vector<int32_t>>;  // by mesh dim, ascending

std::vector<int64_t> ranks_at(const Coordinates& coordinates, const ProcessMesh& mesh) {
  std::vector<MeshCoord> all{MeshCoord{}};
  for (int m = 0; m < mesh.ndim(); ++m) {
    std::vector<MeshCoord> next;
    for (MeshCoord coord : all) {
      for (const int32_t c : coordinates[static_cast<size_t>(m)]) {
        coord[static_cast<size_t>(m)] = c;
        next.push_back(coord);
      }
    }
    all = std::move(next);
  }
  std::vector<int64_t> ranks;
  for (const MeshCoord& coord : all) ranks.push_back(mesh.rank_at(coord));
  return ranks;
}

// The coordinates whose product, in row-major order, is the group.
std::optional<Coordinates> coordinates_of(const std::vector<int64_t>& group,
                                          const ProcessMesh& mesh) {
  Coordinates out(static_cast<size_t>(mesh.ndim()));
  if (std::ssize(group) == mesh.size() && group == mesh.ranks()) {
    for (size_t m = 0; m < out.size(); ++m) {
      out[m].resize(static_cast<size_t>(mesh.dim_size(static_cast<int>(m))));
      std::iota(out[m].begin(), out[m].end(), 0);
    }
    return out;
  }
  for (const int64_t rank : group) {
    const std::optional<MeshCoord> coord = mesh.coord_of(rank);
    if (!coord) return std::nullopt;
    for (size_t m = 0; m < out.size(); ++m) out[m].push_back((*coord)[m]);
  }
  for (std::vector<int32_t>& each : out) {
    std::ranges::sort(each);
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  if (ranks_at(out, mesh) != group) return std::nullopt;
  return out;
}

// With these coordinates in place of single ones.
Coordinates moved_to(const MeshCoord& fixed, Coordinates coordinates) {
  for (size_t m = 0; m < coordinates.size(); ++m) {
    if (coordinates[m].size() == 1) coordinates[m] = {fixed[m]};
  }
  return coordinates;
}

bool is_uniform(const GroupCall& call, size_t members) {
  if (call.peers.size() != members - 1) return false;
  return std::ranges::all_of(call.peers, [&](PeerTraffic peer) {
    const bool is_mutual =
        peer.messages_sent == peer.messages_received && peer.bytes_sent == peer.bytes_received;
    peer.distance = call.peers.front().distance;
    return is_mutual && peer == call.peers.front();
  });
}

// Compares the parts of members that are next to each other along a mesh dim.
void add_changes(const std::vector<CallPart>& parts, const Coordinates& span,
                 SizeChanges* changes) {
  size_t stride = 1;
  for (size_t m = span.size(); m-- > 0;) {
    const size_t along = span[m].size();
    for (size_t i = stride; i < parts.size(); ++i) {
      const size_t at = i / stride % along;
      if (at > 0 && parts[i] != parts[i - stride]) changes->emplace(m, span[m][at]);
    }
    stride *= along;
  }
}

class Asymmetries {
 public:
  Asymmetries(const RankProgram& program, int64_t rank, const ProcessMesh& mesh)
      : program_(program),
        mesh_(mesh),
        rank_(rank),
        own_(*mesh.coord_of(rank)),
        reasons_(static_cast<size_t>(mesh.ndim())) {}

  std::vector<std::string> find() {
    for (const std::vector<int64_t>& group : program_.groups) add_group(group);
    for (const RankEvent& event : program_.events) {
      if (const auto* call = std::get_if<GroupCall>(&event)) check(*call);
    }
    return std::move(reasons_);
  }

 private:
  size_t size_along(size_t mesh_dim) const {
    return static_cast<size_t>(mesh_.dim_size(static_cast<int>(mesh_dim)));
  }
  void set(size_t mesh_dim, const std::string& reason) {
    if (size_along(mesh_dim) > 1 && reasons_[mesh_dim].empty()) reasons_[mesh_dim] = reason;
  }

  void add_group(const std::vector<int64_t>& group) {
    spans_.push_back(coordinates_of(group, mesh_));
    for (size_t m = 0; m < reasons_.size(); ++m) {
      const size_t along = spans_.back() ? (*spans_.back())[m].size() : 0;
      if (along == 1 || along == size_along(m)) continue;
      set(m, fmt::format("a group of rank {} has {} ranks, which are no part of the mesh that has "
                         "all of {}",
                         rank_, group.size(), mesh_.dim_names()[m]));
    }
  }

  void check(const GroupCall& call) {
    const std::vector<int64_t>& group = program_.groups[call.group];
    if (is_uniform(call, group.size())) return;
    const auto position = static_cast<size_t>(std::ranges::find(group, rank_) - group.begin());
    for (const PeerTraffic& peer : call.peers) {
      const int64_t other = group[(position + static_cast<size_t>(peer.distance)) % group.size()];
      const std::optional<MeshCoord> coord = mesh_.coord_of(other);
      for (size_t m = 0; m < reasons_.size(); ++m) {
        if (coord && (*coord)[m] == own_[m]) continue;
        set(m, fmt::format("rank {} exchanges more with some ranks of a group along {} than with "
                           "others, in {}",
                           rank_, mesh_.dim_names()[m], call.op));
      }
    }
  }

  const RankProgram& program_;
  const ProcessMesh& mesh_;
  const int64_t rank_;
  const MeshCoord own_;
  std::vector<std::optional<Coordinates>> spans_;  // by group
  std::vector<std::string> reasons_;
};

// The ranks of `to` at the coordinates of those of `from`.
std::vector<int64_t> ranks_in(const ProcessMesh& to, const ProcessMesh& from,
                              std::vector<int64_t> ranks) {
  std::vector<size_t> dims;  // of `from`, by mesh dim of `to`
  for (const std::string& name : to.dim_names())
    dims.push_back(static_cast<size_t>(from.dim_of(name)));
  for (int64_t& rank : ranks) {
    const MeshCoord coord = *from.coord_of(rank);
    MeshCoord reordered{};
    for (size_t m = 0; m < dims.size(); ++m) reordered[m] = coord[dims[m]];
    rank = to.rank_at(reordered);
  }
  return ranks;
}

// A group whose members change places.
class ReorderedGroup {
 public:
  /// `ranks` are those of the members in their order before.
  ReorderedGroup(const std::vector<int64_t>& ranks, size_t own) : own_(own), sorted_(ranks) {
    std::ranges::sort(sorted_);
    for (const int64_t rank : ranks)
      positions_.push_back(std::ranges::lower_bound(sorted_, rank) - sorted_.begin());
  }
  const std::vector<int64_t>& ranks() const { return sorted_; }

  // Returns false for a call that depends on the order.
  bool reorder(GroupCall* call) const {
    if (is_uniform(*call, sorted_.size())) return true;
    if (call->pattern != CallPattern::kPointToPoint) return false;
    const auto size = static_cast<int64_t>(sorted_.size());
    for (PeerTraffic& peer : call->peers) {
      const size_t before = (own_ + static_cast<size_t>(peer.distance)) % positions_.size();
      peer.distance = (positions_[before] - positions_[own_] + size) % size;
    }
    std::ranges::sort(call->peers, {}, &PeerTraffic::distance);
    const std::vector<CallPart> parts = call->parts.by_position;
    for (size_t i = 0; i < parts.size(); ++i)
      call->parts.by_position[static_cast<size_t>(positions_[i])] = parts[i];
    return true;
  }

 private:
  size_t own_;  // position before
  std::vector<int64_t> sorted_;
  std::vector<int64_t> positions_;  // by position before
};

}  // namespace

std::vector<std::string> asymmetries_of(const RankProgram& program, int64_t rank,
                                        const ProcessMesh& mesh) {
  return Asymmetries(program, rank, mesh).find();
}

SizeChanges size_changes_of(const RankProgram& program, const ProcessMesh& mesh) {
  SizeChanges changes;
  std::map<size_t, std::optional<Coordinates>> spans;  // by group
  for (const RankEvent& event : program.events) {
    const auto* call = std::get_if<GroupCall>(&event);
    if (call == nullptr || call->parts.by_position.empty()) continue;
    const auto [span, is_new] = spans.try_emplace(call->group);
    if (is_new) span->second = coordinates_of(program.groups[call->group], mesh);
    if (span->second) add_changes(call->parts.by_position, *span->second, &changes);
  }
  return changes;
}

SymmetricGroups::SymmetricGroups(const RankProgram& program, int64_t rank, const ProcessMesh& mesh)
    : mesh_(mesh) {
  for (const std::vector<int64_t>& group : program.groups) {
    std::optional<Coordinates> coordinates = coordinates_of(group, mesh);
    PHI_CHECK(coordinates,
              errors::Internal("a group of rank {} is no product of coordinates.", rank));
    coordinates_.push_back(std::move(*coordinates));
  }
}

std::vector<size_t> SymmetricGroups::of(int64_t rank, WorldPrograms& world) {
  const MeshCoord own = *mesh_.coord_of(rank);
  std::vector<size_t> groups;
  for (size_t group = 0; group < coordinates_.size(); ++group) {
    const Coordinates& recorded = coordinates_[group];
    MeshCoord fixed{};
    for (size_t m = 0; m < recorded.size(); ++m) {
      if (recorded[m].size() == 1) fixed[m] = own[m];
    }
    const auto [known, is_new] = added_.try_emplace({group, fixed}, 0);
    if (is_new) known->second = world.add_group(ranks_at(moved_to(fixed, recorded), mesh_));
    groups.push_back(known->second);
  }
  return groups;
}

std::optional<RankProgram> in_reordered_mesh(RankProgram program, int64_t rank,
                                             const ProcessMesh& from, const ProcessMesh& to) {
  std::vector<std::optional<ReorderedGroup>> reordered;
  for (std::vector<int64_t>& ranks : program.groups) {
    if (!std::ranges::is_sorted(ranks)) return std::nullopt;
    const auto own = static_cast<size_t>(std::ranges::find(ranks, rank) - ranks.begin());
    ranks = ranks_in(to, from, std::move(ranks));
    reordered.emplace_back();
    if (std::ranges::is_sorted(ranks)) continue;
    reordered.back().emplace(ranks, own);
    ranks = reordered.back()->ranks();
  }
  for (RankEvent& event : program.events) {
    auto* call = std::get_if<GroupCall>(&event);
    if (call != nullptr && reordered[call->group] && !reordered[call->group]->reorder(call))
      return std::nullopt;
  }
  return program;
}

}  // namespace phi::distributed::simulator
