// Copies between local arrays that a captured program has too.
#pragma once

#include "phi/core/dense_tensor.h"

namespace phi {

/// Copies `from` to `to`, of the same size. A program that is being captured gets a step instead; a
/// dry run does nothing.
void copy_into(const DenseTensor& to, const DenseTensor& from);

}  // namespace phi
