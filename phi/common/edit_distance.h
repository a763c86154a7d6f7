// How far two words are apart, for errors that name what was probably meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace phi {

/// The fewest letters to insert, remove or replace that turn `a` into `b` (Levenshtein 1966).
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace phi
