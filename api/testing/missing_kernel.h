// Detects calls that failed because a GPU kernel is missing; GPUs need not have all kernels.
#pragma once

#include "phi/common/errors.h"

namespace phi::testing {

/// Whether the error says that GPUs lack a kernel, or lack it for a dtype (kernel_registry.h).
bool is_missing_on_gpus(const Error& error);

}  // namespace phi::testing
