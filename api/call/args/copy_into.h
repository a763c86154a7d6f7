// copy_into copies between local arrays; a captured program repeats the copy.
#pragma once

#include "phi/core/dense_tensor.h"

namespace phi {

/// Copies `from` to `to`, which must have the same size. During a capture it adds a step to the
/// program instead; in a dry run it does nothing.
void copy_into(const DenseTensor& to, const DenseTensor& from);

}  // namespace phi
