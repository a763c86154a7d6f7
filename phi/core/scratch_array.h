// Arrays that a kernel needs while it runs. They are scratch memory, not tensors: they are part of
// what is reserved, and not of MemoryStats::current, of which a dry run knows tensors only.
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
