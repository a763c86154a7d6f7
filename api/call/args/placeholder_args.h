// Handles kernel arguments that have no bytes: names them in errors and plans them in dry runs.
#pragma once

#include "api/call/args/kernel_args.h"
#include "phi/common/errors.h"
#include "phi/core/op_def.h"

namespace phi::detail {

/// Adds the names of arguments that are placeholders to a kernel's error.
void name_placeholders(Error& error, const OpDef& op, const KernelArrays& arrays);

/// Materialises deferred inputs in a dry run, so that their planned bytes are counted as in a real
/// launch.
void plan_arrays(const OpDef& op, const KernelArrays& arrays);

/// Checks that no output has a data-dependent shape. Errors: Unimplemented.
void check_shapes_known(const OpDef& op, const KernelArrays& arrays);

}  // namespace phi::detail
