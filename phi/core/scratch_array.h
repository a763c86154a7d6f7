// Arrays that a kernel needs while it runs. They count as reserved memory and not as tensors
// (MemoryStats::current), so that a dry run, which runs no kernel, plans the same bytes of tensors.
#pragma once

#include "phi/common/place.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/meta.h"

namespace phi {

/// Returns an uninitialised array of the calling rank. In a dry run it has no bytes.
///
/// Errors   ResourceExhausted if the device has no memory left.
DenseTensor scratch_array(const TensorMeta& meta, const Place& place);

}  // namespace phi
