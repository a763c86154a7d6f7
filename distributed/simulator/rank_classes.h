// RankClasses: ranks whose steps take the same times, so that one of a class is simulated for all.
//
// Two ranks are of one class if they make the same events, if each of their groups consists of the
// same classes, if the links to their peers are of the same levels, and if ranks of the same
// classes share these links with them (LinkLevel::shared_by). The coarsest such partition
// is found by refinement: ranks of equal events are split until no group tells two of a class apart
// (Paige and Tarjan 1987, "Three partition refinement algorithms").
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "distributed/simulator/machine.h"
#include "distributed/simulator/world_programs.h"

namespace phi::distributed::simulator {

inline constexpr size_t kNoIndex = std::numeric_limits<size_t>::max();

/// The calls of a class in the group with this index in its calls.
struct Endpoint {
  size_t rank_class = 0;
  size_t slot = kNoIndex;  // kNoIndex: the rank has no calls in the group

  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// Groups that consist of the same classes, as one.
struct ClassGroup {
  std::vector<Endpoint> members;  // each once
};

struct RankClass {
  struct Slot {
    size_t group = 0;          // in WorldPrograms, of the representative
    size_t position = 0;       // of the representative in it
    size_t shared = kNoIndex;  // in RankClasses::groups; kNoIndex: point-to-point calls only
    std::map<int64_t, Endpoint> peers{};  // by distance, those of point-to-point calls
  };
  struct LinkShare {
    size_t index = 0;   // in RankClasses::links
    int64_t ranks = 0;  // of this class that share it
  };
  size_t representative = 0;       // its lowest rank
  std::vector<Slot> slots;         // by index in the calls
  std::vector<LinkShare> links{};  // by level of the machine
};

struct RankClasses {
  std::vector<size_t> of_rank;
  std::vector<RankClass> classes;  // by lowest rank
  std::vector<ClassGroup> groups;
  std::vector<size_t> links;  // the level of each; links that the same classes share are one
};

/// Each rank is a class of its own.
RankClasses one_class_per_rank(const WorldPrograms& world, const MachineModel& machine);

/// The coarsest partition. `slow` is by what factor the launches of a rank take longer. Nothing if
/// the members of a group do not make the same calls. Errors: those of MachineModel::link_between.
std::optional<RankClasses> classes_of(const WorldPrograms& world, const MachineModel& machine,
                                      const std::map<int64_t, double>& slow);

}  // namespace phi::distributed::simulator
