// Shape and dtype inference of softmax with cross entropy.
#pragma once

#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Gives softmax (as input) and loss (input's dims with 1 on `axis`, input's dtype).
///
/// Labels   hard: int32 or int64, input's dims with 1 on `axis`, or with `axis` left out.
///          soft: as input, shape and dtype.
/// Errors   InvalidArgument naming input, label and the shapes accepted; OutOfRange for the axis.
std::tuple<TensorMeta, TensorMeta> CrossEntropyWithSoftmaxInferMeta(
    const TensorMeta& input, const TensorMeta& label, bool soft_label, bool use_softmax,
    bool numeric_stable_mode, int ignore_index, int axis);

}  // namespace phi
