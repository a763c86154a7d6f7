// Operators beyond those that this library was generated with: what a library of operators brings
// (api/library/op_library.h) joins ops::all().
#pragma once

#include <span>

#include "phi/core/op_def.h"

namespace phi {

/// Those of this library, in YAML order. Defined by generated code.
std::span<const OpDef* const> built_in_ops();

/// They must live as long as the process. Errors: AlreadyExists for names that are taken, or that
/// `added` has twice; nothing is added then.
void add_ops(std::span<const OpDef* const> added);

}  // namespace phi
