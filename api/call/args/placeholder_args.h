// Names kernel arguments that have no bytes in errors.
#pragma once

#include "api/call/args/kernel_args.h"
#include "phi/common/errors.h"
#include "phi/core/op_def.h"

namespace phi::detail {

/// Adds the names of arguments that are placeholders to a kernel's error.
void name_placeholders(Error& error, const OpDef& op, const KernelArrays& arrays);

}  // namespace phi::detail
