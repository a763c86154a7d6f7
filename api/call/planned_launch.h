// The launch of a dry rank, which computes nothing.
#pragma once

#include "api/call/args/kernel_args.h"
#include "api/call/launch_step.h"
#include "phi/core/op_def.h"

namespace phi::detail {

/// Errors: Unimplemented for an output whose shape depends on data.
void check_shapes_known(const OpDef& op, const KernelArrays& arrays);

/// Plans the bytes that a launch allocates: those of deferred tensors, and of aliases that it
/// writes to.
void plan_arrays(const OpDef& op, const KernelArrays& arrays);
/// Plans the bytes of a launch whose arguments are stored, and reports the launch.
void plan_launch(const OpDef& op, StoredArgs& args);

/// Reports the estimated work of a launch to the rank's observers.
void report_planned(const OpDef& op, StoredArgs& args);

/// The statement of the kernel's scratch memory (phi/core/device/scratch_context.h), to be called
/// with the kernel's arguments. Null if there is none, or if the rank has no MemoryLedger.
Kernel::Erased scratch_statement(const OpDef& op, DataType dtype);

}  // namespace phi::detail
