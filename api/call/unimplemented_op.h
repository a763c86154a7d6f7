// The body of functions of declared-only operators. The YAML entry of such an operator is valid
// but names a rule, kernel or function that does not exist (api_gen --declare-missing).
#pragma once

#include "phi/common/errors.h"

namespace phi {

/// Throws Unimplemented. `missing`: what does not exist, and what to write.
template <typename Result>
[[noreturn]] Result throw_unimplemented_op(const char* op, const char* missing) {
  throw errors::Unimplemented("{} is declared only: {}.", op, missing);
}

}  // namespace phi
