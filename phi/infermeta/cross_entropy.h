// Shape and dtype inference of softmax with cross entropy.
#pragma once

#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// (softmax, loss): softmax has input's meta; loss has input's dtype and input's dims with 1 on
/// `axis`.
///
/// Labels   hard: int32 or int64, with input's dims and either 1 on `axis` or no `axis`. Soft:
///          input's shape and dtype.
/// Errors   InvalidArgument, which names input, label and the accepted shapes; OutOfRange for the
///          axis.
std::tuple<TensorMeta, TensorMeta> CrossEntropyWithSoftmaxInferMeta(
    const TensorMeta& input, const TensorMeta& label, bool soft_label, bool use_softmax,
    bool numeric_stable_mode, int ignore_index, int axis);

}  // namespace phi
