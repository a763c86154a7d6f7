// Suggests similar names, for error messages about unknown names.
//
//   nearest("matmull", names) == "matmul";
//   did_you_mean("layrs", keys) == ", did you mean 'layers'?";
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phi {

/// Levenshtein distance: the least number of inserted, removed and replaced letters.
size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate with the least distance from `word`, or "" if none is similar: the
/// distance must be at most max(2, a third of the letters), and less than the candidate's length.
std::string nearest(std::string_view word, std::span<const std::string> candidates);
/// Returns the three candidates with the least distance, similar or not: "matmul, max, mean".
std::string nearest_three(std::string_view word, std::vector<std::string> candidates);
/// Returns ", did you mean 'matmul'?" with the nearest candidate, or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace phi
