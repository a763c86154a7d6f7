// The name that somebody meant: for messages about names that do not exist.
//
//   nearest("matmull", names) == "matmul";
//   did_you_mean("layrs", keys) == ", did you mean 'layers'?";
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace phi {

/// Letters inserted, removed or replaced between the two words (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate most like `word`, or nothing if none is like it.
std::string nearest(std::string_view word, std::span<const std::string> candidates);
/// ", did you mean 'matmul'?" or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace phi
