// Tensors that stand for others while a function is captured: of the same meta and placements, with
// storages of their own that nothing has been written to.
#pragma once

#include "api/tensor/tensor.h"

namespace phi::ir {

/// At the start of its storage, for any tensor like x that a run may be given. On a rank outside of
/// x's mesh it is clipped, as x is; `user` is named to whoever reads it there.
Tensor stand_in(const Tensor& x, const char* user);
/// Where x is in a storage as large as x's, so that a step finds the same part of either.
Tensor stand_in_at_same_place(const Tensor& x, const char* user);

}  // namespace phi::ir
