// What a function of an operator calls that is declared only: its YAML entry is understood, and
// names what is not here (api_gen --declare-missing).
#pragma once

#include "phi/common/errors.h"

namespace phi {

/// `missing`: what is not there, and what to write. Errors: Unimplemented, always.
template <typename Result>
[[noreturn]] Result declared_only(const char* op, const char* missing) {
  throw errors::Unimplemented("{} is declared only: {}.", op, missing);
}

}  // namespace phi
