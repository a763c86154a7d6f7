// The seed-and-offset tensor of attention operators with dropout.
#pragma once

#include "api/tensor/tensor.h"

namespace phi {

/// Returns `given` if it is present or if `drops` (there is dropout) is false. Otherwise draws a
/// new pair from the rank's generator: a plain int64 tensor [2] on the place of `like`.
std::optional<Tensor> seed_offset_for(const std::optional<Tensor>& given, const Tensor& like,
                                      bool drops);

}  // namespace phi
