// What is said of indices that name nothing, by every device (Misfit, kernels' refuse.h).
#pragma once

#include "phi/core/device/misfit.h"

namespace phi {

/// May an index count from the end?
enum class FromEnd : bool { kNo, kYes };

/// Of an index along a tensor dim of `extent`. Errors: OutOfRange.
[[noreturn]] void throw_outside_dim(const Misfit& found);
/// Of an id that picks rows of found.table, which has `extent` of them. Errors: OutOfRange.
[[noreturn]] void throw_outside_table(const Misfit& found);

}  // namespace phi
