// A kernel's arguments that have no bytes: named in errors, planned in a dry run.
#pragma once

#include "api/call/args/kernel_args.h"
#include "phi/common/errors.h"
#include "phi/core/op_def.h"

namespace phi::detail {

/// Adds to an error of a kernel which of its arguments have no bytes.
void name_placeholders(Error& error, const OpDef& op, const KernelArrays& arrays);

/// What a launch would bring here is planned: deferred inputs.
void plan_arrays(const OpDef& op, const KernelArrays& arrays);

/// Errors: Unimplemented for an output whose shape only the kernel finds.
void check_shapes_known(const OpDef& op, const KernelArrays& arrays);

}  // namespace phi::detail
