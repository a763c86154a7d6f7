// Edit distance by dynamic programming, one row at a time, and the choice of similar names.
#include "phi/common/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace phi {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

namespace {

// A longer word is not a misspelt name, and comparing it would be slow.
constexpr size_t kLongestName = 256;

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > kLongestName) return "";
  // Up to a third of the letters may differ, and always two.
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string nearest_three(std::string_view word, std::vector<std::string> candidates) {
  std::vector<std::pair<size_t, std::string>> by_distance;
  for (std::string& candidate : candidates) {
    const size_t distance = edit_distance(word.substr(0, kLongestName), candidate);
    by_distance.emplace_back(distance, std::move(candidate));
  }
  std::ranges::stable_sort(by_distance, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string_view> names;
  for (const auto& [distance, name] : by_distance) {
    if (names.size() < 3) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format(", did you mean '{}'?", found);
}

}  // namespace phi
