// Shapes and dtypes of norms, and of what is scaled by them. All need floating x.
#pragma once

#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Without `axis`, or with 1 there; over all tensor dims if `asvector`. Errors: OutOfRange;
/// InvalidArgument if `porder` is NaN.
TensorMeta PNormInferMeta(const TensorMeta& x, float porder, int axis, bool keepdim, bool asvector);

/// As ReduceAllInferMeta.
TensorMeta LogsumexpInferMeta(const TensorMeta& x, const std::vector<int64_t>& axis, bool keepdim,
                              bool reduce_all);

/// x, and the norms with 1 along the axis, or none of them if `is_test`. Errors: OutOfRange.
std::tuple<TensorMeta, TensorMeta> NormInferMeta(const TensorMeta& x, int axis, bool is_test);

/// As x. Errors: OutOfRange; InvalidArgument unless p is above 0.
TensorMeta RenormInferMeta(const TensorMeta& x, float p, int axis);

/// As x. Errors: InvalidArgument unless `max_norm` is above 0.
TensorMeta ClipByNormInferMeta(const TensorMeta& x, float max_norm);

}  // namespace phi
