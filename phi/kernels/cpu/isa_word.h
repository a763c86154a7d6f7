// Which of the ways that a machine can compute an environment variable names.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {

/// The `best` of this machine, or an earlier one that the environment variable names. `words` are
/// those of Isa's values, in their order. Errors: InvalidArgument for another word.
template <typename Isa>
Isa isa_of_word(const char* variable, std::span<const std::string_view> words, Isa best) {
  const char* word = std::getenv(variable);
  if (!word) return best;
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    std::string known(words.front());
    for (const std::string_view other : words.subspan(1)) {
      known += (other == words.back() ? " or " : ", ") + std::string(other);
    }
    throw errors::InvalidArgument("{} is '{}'; it takes {}.", variable, word, known);
  }
  return std::min(static_cast<Isa>(found - words.begin()), best);
}

}  // namespace phi
