// WorldPrograms: the programs of all ranks of a world, which share their events and groups. Its
// size grows with the classes of ranks and the members of groups, not with ranks times events.
//
//   WorldPrograms world;
//   const size_t events = world.add_events(std::move(program.events));
//   const size_t all = world.add_group({0, 1, 2, 3});
//   for (int64_t rank = 0; rank < 4; ++rank) world.add_rank({events, {all}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/simulator/rank_program.h"

namespace phi::distributed::simulator {

class WorldPrograms {
 public:
  using Events = std::vector<RankEvent>;

  /// One rank: indices into the shared lists.
  struct Rank {
    size_t events = 0;
    std::vector<size_t> groups;  // by index in the rank's calls
  };

  WorldPrograms() = default;
  WorldPrograms(const WorldPrograms&) = delete;
  WorldPrograms& operator=(const WorldPrograms&) = delete;
  WorldPrograms(WorldPrograms&&) = default;
  WorldPrograms& operator=(WorldPrograms&&) = default;

  /// Refers to the events of `programs`, which must outlive this object.
  static WorldPrograms of(std::span<const RankProgram> programs);

  /// Returns the index of equal events, which are stored once.
  size_t add_events(Events events);
  /// Returns the index of a group of these ranks, which is stored once.
  size_t add_group(const std::vector<int64_t>& ranks);
  /// Appends the next rank.
  void add_rank(Rank rank) { ranks_.push_back(std::move(rank)); }

  size_t num_ranks() const { return ranks_.size(); }
  size_t num_events() const { return events_.size(); }
  size_t num_groups() const { return groups_.size(); }
  const Rank& rank(size_t rank) const { return ranks_[rank]; }
  const Events& events(size_t index) const { return *events_[index]; }
  /// The ranks of a group.
  const std::vector<int64_t>& group(size_t index) const { return groups_[index]; }

 private:
  size_t index_of(const Events* events);

  std::deque<Events> owned_;  // addresses are stable
  std::vector<const Events*> events_;
  std::vector<std::vector<int64_t>> groups_;
  std::vector<Rank> ranks_;
  std::unordered_map<size_t, std::vector<size_t>> events_by_hash_;
  std::unordered_map<size_t, std::vector<size_t>> groups_by_hash_;
};

}  // namespace phi::distributed::simulator
