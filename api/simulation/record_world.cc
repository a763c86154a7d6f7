// Records representatives until none of them tells a further mesh dim apart.
#include "api/simulation/record_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "distributed/simulator/mesh_symmetry.h"

namespace phi::simulation {
namespace {

using distributed::MeshCoord;
using distributed::ProcessMesh;
using distributed::simulator::SymmetricGroups;
using distributed::simulator::WorldPrograms;

class WorldRecorder {
 public:
  using Record = std::function<RecordedRank(int64_t rank)>;

  WorldRecorder(const ProcessMesh& mesh, const Record& record)
      : mesh_(mesh), record_(record), reasons_(static_cast<size_t>(mesh.ndim())) {}

  RecordedWorld run() {
    while (!record_representatives()) continue;
    return build();
  }

 private:
  bool is_symmetric(size_t mesh_dim) const { return reasons_[mesh_dim].empty(); }

  void set(size_t mesh_dim, const std::string& reason) {
    if (mesh_.dim_size(static_cast<int>(mesh_dim)) == 1 || !is_symmetric(mesh_dim)) return;
    reasons_[mesh_dim] = reason;
    has_changed_ = true;
  }

  const RecordedRank& recorded(int64_t rank) {
    const auto known = ranks_.find(rank);
    if (known != ranks_.end()) return known->second;
    const RecordedRank& added = ranks_.emplace(rank, record_(rank)).first->second;
    const std::vector<std::string> calls =
        distributed::simulator::asymmetries_of(added.program, rank, mesh_);
    for (size_t m = 0; m < reasons_.size(); ++m) {
      for (const std::string& reason : {added.asymmetries[m], calls[m]}) {
        if (!reason.empty()) set(m, reason);
      }
    }
    return added;
  }

  // The rank that is recorded for this one.
  int64_t representative_of(int64_t rank) const {
    MeshCoord coord = *mesh_.coord_of(rank);
    for (size_t m = 0; m < reasons_.size(); ++m) {
      if (is_symmetric(m)) coord[m] = 0;
    }
    return mesh_.rank_at(coord);
  }
  // The last rank for which this one is recorded.
  int64_t witness_of(int64_t representative) const {
    MeshCoord coord = *mesh_.coord_of(representative);
    for (size_t m = 0; m < reasons_.size(); ++m) {
      if (is_symmetric(m)) coord[m] = static_cast<int32_t>(mesh_.dim_size(static_cast<int>(m)) - 1);
    }
    return mesh_.rank_at(coord);
  }

  // Returns false if a rank told a further mesh dim apart.
  bool record_representatives() {
    has_changed_ = false;
    for (int64_t rank = 0; rank < mesh_.size(); ++rank) {
      if (representative_of(rank) != rank) continue;
      recorded(rank);
      if (has_changed_) return false;
    }
    for (const int64_t first : {int64_t{0}, representative_of(mesh_.size() - 1)}) {
      const int64_t last = witness_of(first);
      const bool are_equal = do_the_same(first, last);
      if (has_changed_) return false;
      if (are_equal) continue;
      for (size_t m = 0; m < reasons_.size(); ++m)
        set(m, fmt::format("ranks {} and {} do not do the same", first, last));
      return false;
    }
    return true;
  }

  bool do_the_same(int64_t first, int64_t last) {
    if (first == last) return true;
    const RecordedRank& a = recorded(first);
    const RecordedRank& b = recorded(last);
    if (has_changed_ || a.program.events != b.program.events || a.held != b.held) return false;
    WorldPrograms world;
    const std::vector<size_t> groups = SymmetricGroups(a.program, first, mesh_).of(last, world);
    for (size_t i = 0; i < groups.size(); ++i) {
      if (i == b.program.groups.size() || world.group(groups[i]) != b.program.groups[i])
        return false;
    }
    return groups.size() == b.program.groups.size();
  }

  RecordedWorld build() {
    RecordedWorld out;
    out.num_recorded = ranks_.size();
    for (int64_t rank = 0; rank < mesh_.size(); ++rank) {
      const Class& own = class_of(representative_of(rank), out);
      out.programs.add_rank({own.events, own.groups ? own.groups->of(rank, out.programs)
                                                    : own_groups(rank, out.programs)});
      out.held_by.push_back(own.held);
    }
    for (size_t m = 0; m < reasons_.size(); ++m) {
      if (!is_symmetric(m))
        out.asymmetries.push_back(fmt::format("{}: {}", mesh_.dim_names()[m], reasons_[m]));
    }
    return out;
  }

  // The ranks for which one is recorded.
  struct Class {
    size_t events = 0;
    size_t held = 0;
    std::unique_ptr<SymmetricGroups> groups{};  // null: only that one rank
  };

  const Class& class_of(int64_t representative, RecordedWorld& out) {
    const auto [known, is_new] = classes_.try_emplace(representative);
    Class& own = known->second;
    if (!is_new) return own;
    RecordedRank& recorded = ranks_.at(representative);
    if (witness_of(representative) != representative)
      own.groups = std::make_unique<SymmetricGroups>(recorded.program, representative, mesh_);
    own.events = out.programs.add_events(std::move(recorded.program.events));
    const auto equal = std::ranges::find(out.held, recorded.held);
    own.held = static_cast<size_t>(equal - out.held.begin());
    if (equal == out.held.end()) out.held.push_back(recorded.held);
    return own;
  }

  std::vector<size_t> own_groups(int64_t rank, WorldPrograms& world) const {
    std::vector<size_t> groups;
    for (const auto& ranks : ranks_.at(rank).program.groups)
      groups.push_back(world.add_group(ranks));
    return groups;
  }

  const ProcessMesh mesh_;
  const Record& record_;
  std::vector<std::string> reasons_;  // by mesh dim
  bool has_changed_ = false;
  std::map<int64_t, RecordedRank> ranks_;
  std::map<int64_t, Class> classes_;  // by representative
};

}  // namespace

RecordedWorld record_world(const ProcessMesh& mesh,
                           const std::function<RecordedRank(int64_t rank)>& record) {
  return WorldRecorder(mesh, record).run();
}

}  // namespace phi::simulation
