// Whether one rank's part of a tensor is the whole value.
#pragma once

#include "api/tensor/tensor.h"

namespace phi {

/// Whether the part of each rank of the mesh is the whole value: the tensor is plain, or replicated
/// along every mesh dim that has more than one rank.
bool parts_are_whole(const Tensor& x);

}  // namespace phi
