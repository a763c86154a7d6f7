// Lists all choices of placements, or draws some.
#include "api/testing/placement_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace phi::testing {

using distributed::Placement;

std::vector<Placement> placements_of(const Tensor& x, bool partial) {
  std::vector<Placement> options = {distributed::Replicate()};
  for (int d = 0; d < x.ndim(); ++d) options.push_back(distributed::Shard(d));
  if (partial && is_floating(x.dtype())) options.push_back(distributed::Partial());
  return options;
}

namespace {

std::vector<PlacementChoice> all_choices(const TensorList& inputs, bool partial) {
  std::vector<PlacementChoice> all = {{}};
  for (const Tensor& x : inputs) {
    std::vector<PlacementChoice> longer;
    for (const PlacementChoice& choice : all) {
      for (const Placement& p : placements_of(x, partial)) {
        longer.push_back(choice);
        longer.back().push_back({p});
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Above this number of choices on one mesh dim, choices are drawn: a list of all would be too long.
constexpr size_t kMostListed = 100'000;

bool can_be_listed(const TensorList& inputs, bool partial) {
  size_t count = 1;
  for (const Tensor& x : inputs) {
    count *= placements_of(x, partial).size();
    if (count > kMostListed) return false;
  }
  return true;
}

}  // namespace

std::vector<PlacementChoice> placement_choices(const TensorList& inputs, int mesh_ndim,
                                               bool partial, size_t most, std::mt19937& rng) {
  std::vector<PlacementChoice> result;
  if (mesh_ndim == 1 && can_be_listed(inputs, partial)) {
    result = all_choices(inputs, partial);
    std::shuffle(result.begin(), result.end(), rng);
    if (result.size() > most) result.resize(most);
    return result;
  }
  for (size_t i = 0; i < most; ++i) {
    PlacementChoice choice;
    for (const Tensor& x : inputs) {
      const auto options = placements_of(x, partial);
      auto& placements = choice.emplace_back();
      for (int m = 0; m < mesh_ndim; ++m) placements.push_back(options[rng() % options.size()]);
    }
    result.push_back(std::move(choice));
  }
  return result;
}

std::string to_string(const PlacementChoice& choice) {
  std::vector<std::string> inputs;
  for (const auto& placements : choice) {
    std::vector<std::string> words;
    for (const Placement& p : placements) words.push_back(p.to_string());
    inputs.push_back(fmt::format("[{}]", fmt::join(words, " ")));
  }
  return fmt::format("{}", fmt::join(inputs, " "));
}

}  // namespace phi::testing
