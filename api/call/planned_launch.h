// The launch of a dry rank, which computes nothing.
#pragma once

#include "api/call/launch_step.h"
#include "phi/core/op_def.h"

namespace phi::detail {

/// Errors: Unimplemented for an output whose shape depends on data.
void check_shapes_known(const OpDef& op, StoredArgs& args);

/// Plans the bytes that the launch allocates: those of deferred tensors, and of aliases that it
/// writes to. Reports the launch to the rank's observers.
void plan_launch(const OpDef& op, StoredArgs& args);

}  // namespace phi::detail
