// The order of a program's steps, changed where it keeps fewer bytes alive.
#pragma once

#include <vector>

#include "api/capture/recording.h"

namespace phi::ir {

/// Moves steps that add to a buffer what they read from others (sums of gradients, updates of
/// parameters) up to right behind the last step that they depend on, so that what they read can
/// end. A scan gives all its layers' gradients at once; after this each is added as soon as it is
/// there. Steps that talk to other ranks or draw on more than their arrays keep their order.
std::vector<RecordedStep> move_sums_up(std::vector<RecordedStep> steps);

}  // namespace phi::ir
