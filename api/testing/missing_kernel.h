// Whether a call failed for want of a kernel: GPUs need not have all.
#pragma once

#include "phi/common/errors.h"

namespace phi::testing {

/// The error says that GPUs have no kernel of a name, or not for a dtype (kernel_registry.h).
bool is_missing_on_gpus(const Error& error);

}  // namespace phi::testing
