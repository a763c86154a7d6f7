// isa_from_env: selects an instruction set by environment variable.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {

/// Returns the instruction set that environment variable `variable` names, but at most `best`;
/// `best` if the variable is not set. `words` are the names of Isa's values, in their order.
///
/// Errors   InvalidArgument if the variable has another value.
template <typename Isa>
Isa isa_from_env(const char* variable, std::span<const std::string_view> words, Isa best) {
  const char* word = std::getenv(variable);
  if (!word) return best;
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    std::string known(words.front());
    for (const std::string_view other : words.subspan(1)) {
      known += (other == words.back() ? " or " : ", ") + std::string(other);
    }
    throw errors::InvalidArgument("{} is '{}'; it accepts {}.", variable, word, known);
  }
  return std::min(static_cast<Isa>(found - words.begin()), best);
}

}  // namespace phi
