// Removes copies that a captured program needs only if an alias or its source is written to.
#pragma once

#include <functional>

#include "api/capture/flatten.h"

namespace phi::ir {

/// Removes every AliasStep after which no step writes to its source or to its result, and merges
/// the two buffers. An alias that is an input or output of the program (`is_port`) stays.
void drop_aliases(FlatProgram& program, const std::function<bool(BufferId)>& is_port);

}  // namespace phi::ir
