// The choice of values that the backward pass recomputes instead of keeping.
#pragma once

#include "distributed/planner/recompute.h"

namespace phi::nn {

/// kNone; kSelective: the cores of Attention modules; kFull: whole layers of Sequential::repeat.
using distributed::Recompute;

}  // namespace phi::nn
