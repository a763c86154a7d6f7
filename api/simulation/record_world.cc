// Records representatives until none of them tells a further mesh dim apart.
#include "api/simulation/record_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <utility>

#include "distributed/simulator/mesh_symmetry.h"

namespace phi::simulation {
namespace {

using distributed::MeshCoord;
using distributed::ProcessMesh;
using distributed::simulator::SizeChanges;
using distributed::simulator::SymmetricGroups;
using distributed::simulator::WorldPrograms;

class WorldRecorder {
 public:
  using Record = std::function<RecordedRank(int64_t rank)>;

  WorldRecorder(const ProcessMesh& mesh, const Record& record)
      : mesh_(mesh),
        record_(record),
        reasons_(static_cast<size_t>(mesh.ndim())),
        changes_(reasons_.size()) {}

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

  void add(const SizeChanges& changes) {
    for (const auto& [mesh_dim, coord] : changes)
      has_changed_ |= changes_[mesh_dim].insert(coord).second;
  }

  const RecordedRank& recorded(int64_t rank) {
    const auto known = ranks_.find(rank);
    if (known != ranks_.end()) return known->second;
    const RecordedRank& added = ranks_.emplace(rank, record_(rank)).first->second;
    const std::vector<std::string> calls =
        distributed::simulator::asymmetries_of(added.program, rank, mesh_);
    add(added.size_changes);
    add(distributed::simulator::size_changes_of(added.program, mesh_));
    for (size_t m = 0; m < reasons_.size(); ++m) {
      for (const std::string& reason : {added.asymmetries[m], calls[m]}) {
        if (!reason.empty()) set(m, reason);
      }
    }
    return added;
  }

  int32_t last_along(size_t mesh_dim) const {
    return static_cast<int32_t>(mesh_.dim_size(static_cast<int>(mesh_dim)) - 1);
  }

  // The first and the last rank that do the same as this one; the first is recorded for all.
  std::pair<int64_t, int64_t> alike(int64_t rank) const {
    MeshCoord first = *mesh_.coord_of(rank), last = first;
    for (size_t m = 0; m < reasons_.size(); ++m) {
      if (!is_symmetric(m)) continue;
      const auto next = changes_[m].upper_bound(first[m]);
      last[m] = next == changes_[m].end() ? last_along(m) : *next - 1;
      first[m] = next == changes_[m].begin() ? 0 : *std::prev(next);
    }
    return {mesh_.rank_at(first), mesh_.rank_at(last)};
  }
  bool is_representative(int64_t rank) const { return alike(rank).first == rank; }

  // Whether the rank is at one end of all mesh dims along which ranks are recorded one by one.
  bool is_at_an_end(int64_t rank) const {
    const MeshCoord coord = *mesh_.coord_of(rank);
    bool is_first = true, is_last = true;
    for (size_t m = 0; m < reasons_.size(); ++m) {
      if (is_symmetric(m)) continue;
      is_first = is_first && coord[m] == 0;
      is_last = is_last && coord[m] == last_along(m);
    }
    return is_first || is_last;
  }

  // Returns false if a rank told a further mesh dim apart.
  bool record_representatives() {
    has_changed_ = false;
    for (int64_t rank = 0; rank < mesh_.size(); ++rank) {
      if (!is_representative(rank)) continue;
      recorded(rank);
      if (has_changed_) return false;
    }
    for (int64_t rank = 0; rank < mesh_.size(); ++rank) {
      if (!is_representative(rank) || !is_at_an_end(rank)) continue;
      const int64_t last = alike(rank).second;
      const bool are_equal = do_the_same(rank, last);
      if (!has_changed_ && !are_equal) tell_apart(rank, last);
      if (has_changed_) return false;
    }
    return true;
  }

  // Sizes of shards are the likely reason, where they differ.
  void tell_apart(int64_t first, int64_t last) {
    const auto is_uneven = [&](size_t m) { return is_symmetric(m) && !changes_[m].empty(); };
    const auto mesh_dims = std::views::iota(size_t{0}, reasons_.size());
    const bool are_even = std::ranges::none_of(mesh_dims, is_uneven);
    for (const size_t m : mesh_dims) {
      if (are_even || is_uneven(m))
        set(m, fmt::format("ranks {} and {} do not do the same", first, last));
    }
  }

  bool do_the_same(int64_t first, int64_t last) {
    if (first == last) return true;
    const RecordedRank& a = recorded(first);
    const RecordedRank& b = recorded(last);
    if (has_changed_ || a.program.events != b.program.events || a.totals != b.totals) return false;
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
      const Class& own = class_of(alike(rank).first, out);
      out.programs.add_rank({own.events, own.groups ? own.groups->of(rank, out.programs)
                                                    : own_groups(rank, out.programs)});
      out.totals_of.push_back(own.totals);
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
    size_t totals = 0;
    std::unique_ptr<SymmetricGroups> groups{};  // null: only that one rank
  };

  const Class& class_of(int64_t representative, RecordedWorld& out) {
    const auto [known, is_new] = classes_.try_emplace(representative);
    Class& own = known->second;
    if (!is_new) return own;
    RecordedRank& recorded = ranks_.at(representative);
    if (alike(representative).second != representative)
      own.groups = std::make_unique<SymmetricGroups>(recorded.program, representative, mesh_);
    own.events = out.programs.add_events(std::move(recorded.program.events));
    const auto equal = std::ranges::find(out.totals, recorded.totals);
    own.totals = static_cast<size_t>(equal - out.totals.begin());
    if (equal == out.totals.end()) out.totals.push_back(recorded.totals);
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
  std::vector<std::string> reasons_;        // by mesh dim
  std::vector<std::set<int32_t>> changes_;  // SizeChanges, by mesh dim
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
