// Reorders a program's steps so that fewer bytes are live.
#pragma once

#include <vector>

#include "api/capture/recording.h"

namespace phi::ir {

/// Moves steps that accumulate into a buffer (sums of gradients, updates of parameters) to directly
/// after the last step that they depend on, so that the buffers that they read can be freed. A scan
/// produces all its layers' gradients before its end; after this each gradient is added as soon as
/// it is computed. Steps that exchange messages or that depend on more than their arrays keep their
/// order.
std::vector<RecordedStep> hoist_accumulations(std::vector<RecordedStep> steps);

}  // namespace phi::ir
