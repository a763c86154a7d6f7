// Whether one rank's part of a tensor is the whole value.
#pragma once

#include "api/tensor/tensor.h"

namespace phi {

/// Whether each rank's part is the whole value: x is plain, or replicated along every mesh dim of
/// more than one rank.
bool parts_are_whole(const Tensor& x);

}  // namespace phi
