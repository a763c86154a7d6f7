// Stores equal events and equal groups once.
#include "distributed/simulator/world_programs.h"

#include <utility>

#include "phi/common/split_mix.h"

namespace phi::distributed::simulator {
namespace {

size_t hash_of_ranks(const std::vector<int64_t>& ranks) {
  uint64_t hash = ranks.size();
  for (const int64_t rank : ranks) hash = split_mix(hash ^ static_cast<uint64_t>(rank));
  return hash;
}

}  // namespace

WorldPrograms WorldPrograms::of(std::span<const RankProgram> programs) {
  WorldPrograms world;
  for (const RankProgram& program : programs) {
    Rank rank{world.index_of(&program.events), {}};
    for (const auto& group : program.groups) rank.groups.push_back(world.add_group(group));
    world.add_rank(std::move(rank));
  }
  return world;
}

size_t WorldPrograms::add_events(Events events) {
  const Events* own = &owned_.emplace_back(std::move(events));
  const size_t index = index_of(own);
  if (events_[index] != own) owned_.pop_back();
  return index;
}

size_t WorldPrograms::index_of(const Events* events) {
  std::vector<size_t>& same_hash = events_by_hash_[hash_of(*events)];
  for (const size_t index : same_hash) {
    if (*events_[index] == *events) return index;
  }
  same_hash.push_back(events_.size());
  events_.push_back(events);
  return events_.size() - 1;
}

size_t WorldPrograms::add_group(const std::vector<int64_t>& ranks) {
  std::vector<size_t>& same_hash = groups_by_hash_[hash_of_ranks(ranks)];
  for (const size_t index : same_hash) {
    if (groups_[index] == ranks) return index;
  }
  same_hash.push_back(groups_.size());
  groups_.push_back(ranks);
  return groups_.size() - 1;
}

}  // namespace phi::distributed::simulator
