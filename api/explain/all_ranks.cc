// Gathers explanations of all ranks, and merges equal ones.
#include "api/explain/all_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "api/explain/explanation.h"
#include "distributed/comm/world.h"
#include "distributed/config_check/config_check.h"
#include "phi/core/observer_scope.h"

namespace phi {

using distributed::World;

std::vector<std::string> gathered_texts(const std::string& own) {
  World& world = World::current();
  if (!world.transfers_data() || world.size() == 1) return {own};
  const SuspendObservers suspended;
  const auto ranks = static_cast<size_t>(world.size());
  std::vector<int64_t> sizes(ranks);
  const auto size = static_cast<int64_t>(own.size());
  world.everyone().all_gather(&size, sizes.data(), 1, DataType::INT64);
  // all_gather needs equal sizes, so shorter texts are padded.
  const auto longest = static_cast<size_t>(std::ranges::max(sizes));
  std::vector<uint8_t> mine(longest);
  std::memcpy(mine.data(), own.data(), own.size());
  std::vector<uint8_t> all(longest * ranks);
  if (longest > 0) {
    world.everyone().all_gather(mine.data(), all.data(), static_cast<int64_t>(longest),
                                DataType::UINT8);
  }
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < ranks; ++rank) {
    texts.emplace_back(reinterpret_cast<const char*>(all.data() + rank * longest),
                       static_cast<size_t>(sizes[rank]));
  }
  return texts;
}

namespace {

struct RankGroup {
  std::vector<int64_t> ranks;
  std::string text;  // of the group's first rank
};

// Ranks whose explanations are equal except for times.
std::vector<RankGroup> groups_of(const Explanation& own, const std::string& own_text) {
  const std::vector<std::string> keys = gathered_texts(own.text(/*with_times=*/false));
  const std::vector<std::string> texts = gathered_texts(own_text);
  if (keys.size() == 1) return {{{own.rank}, own_text}};
  std::vector<RankGroup> groups;
  std::vector<size_t> first;
  for (size_t rank = 0; rank < keys.size(); ++rank) {
    size_t g = 0;
    while (g < groups.size() && keys[first[g]] != keys[rank]) ++g;
    if (g == groups.size()) {
      groups.push_back({{}, texts[rank]});
      first.push_back(rank);
    }
    groups[g].ranks.push_back(static_cast<int64_t>(rank));
  }
  return groups;
}

}  // namespace

std::string explain_all_ranks(const Explanation& own) {
  std::string out;
  for (const RankGroup& group : groups_of(own, own.to_string())) {
    std::string name = distributed::name_ranks(group.ranks);
    if (group.ranks.size() > 1) {
      name += fmt::format(", identical (times of rank {})", group.ranks.front());
    }
    out += fmt::format("{}== {} of {} ==\n{}", out.empty() ? "" : "\n", name, own.world_size,
                       group.text);
  }
  return out;
}

std::string explain_all_ranks_as_json(const Explanation& own) {
  std::string out = fmt::format("{{\"world_size\": {}, \"explained\": [\n", own.world_size);
  bool is_first = true;
  for (const RankGroup& group : groups_of(own, own.to_json())) {
    std::string ranks;
    for (const int64_t rank : group.ranks)
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
    out += fmt::format("{}{{\"ranks\": [{}], \"first\": {}}}", is_first ? "" : ",\n", ranks,
                       group.text);
    is_first = false;
  }
  return out + "\n]}\n";
}

}  // namespace phi
