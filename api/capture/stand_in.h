// Stand-ins for tensors during a capture: tensors of the same metadata and placements with new
// storages.
#pragma once

#include "api/tensor/tensor.h"

namespace phi::ir {

/// Returns a stand-in at offset 0 of its storage, for any tensor like x that a run may receive. On
/// a rank outside x's mesh it is a placeholder, whose errors name `user`.
Tensor stand_in(const Tensor& x, const char* user);
/// Returns a stand-in whose storage has the size of x's, at x's offset, so that a step uses the
/// same range of both.
Tensor stand_in_at_same_place(const Tensor& x, const char* user);

}  // namespace phi::ir
