// The seed and offset of attention that drops weights, which it takes in a tensor.
#pragma once

#include "api/tensor/tensor.h"

namespace phi {

/// `given`, or, where it is left out and weights are dropped, a new pair from the rank's generator
/// (int64 [2], plain, where `like` lies).
std::optional<Tensor> seed_offset_for(const std::optional<Tensor>& given, const Tensor& like,
                                      bool drops);

}  // namespace phi
