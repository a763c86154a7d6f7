// Mesh symmetry: whether the program of a rank is that of all ranks that differ from it only along
// some mesh dims, and the groups of those ranks.
//
// A program is symmetric along a mesh dim if each of its groups has one coordinate of that dim, or
// all of them, and each call in a group with all of them exchanges as much with every member, with
// members of the rank's own coordinate only, or the parts of all members (CallParts). A rotation of
// the mesh along the dim then maps the calls of a rank to those of another one, as long as both
// compute the same (ShardSymmetry, api/simulation/shard_symmetry.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/simulator/rank_program.h"
#include "distributed/simulator/world_programs.h"

namespace phi::distributed::simulator {

/// Why the program of `rank` is not symmetric along a mesh dim, by mesh dim; empty: it is. `mesh`
/// is regular and has all ranks of the program.
std::vector<std::string> asymmetries_of(const RankProgram& program, int64_t rank,
                                        const ProcessMesh& mesh);

/// Mesh dims, each with a coordinate c at which shards or parts of calls differ in size from those
/// at c - 1. They have one size between two changes.
using SizeChanges = std::set<std::pair<size_t, int32_t>>;

/// The changes of the parts of calls (CallParts). Ignores groups whose ranks are not all ranks with
/// certain coordinates.
SizeChanges size_changes_of(const RankProgram& program, const ProcessMesh& mesh);

/// The groups of ranks that differ from the rank of a program only along mesh dims along which the
/// program is symmetric.
class SymmetricGroups {
 public:
  /// `program` is that of `rank`.
  SymmetricGroups(const RankProgram& program, int64_t rank, const ProcessMesh& mesh);
  /// Adds the groups of `rank` to `world`, always the same one, and returns their indices.
  std::vector<size_t> of(int64_t rank, WorldPrograms& world);

 private:
  const ProcessMesh mesh_;
  std::vector<std::vector<std::vector<int32_t>>> coordinates_;  // by group and mesh dim
  std::map<std::pair<size_t, MeshCoord>, size_t> added_;        // by group and own coordinates
};

/// The program of the rank of `to` that has the coordinates of `rank`, whose program this is, in
/// `from`, a mesh of the same mesh dims in another order. Nothing if this depends on the order: if
/// a group does not list its ranks in ascending order, or if they change places and a collective
/// does not exchange as much with each of them.
std::optional<RankProgram> in_reordered_mesh(RankProgram program, int64_t rank,
                                             const ProcessMesh& from, const ProcessMesh& to);

}  // namespace phi::distributed::simulator
