// Shapes and dtypes of norms and of ops that scale by norms. x must be floating.
#pragma once

#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// x without `axis`, or with 1 there if `keepdim`; over all tensor dims if `asvector`. Errors:
/// OutOfRange; InvalidArgument if `porder` is NaN.
TensorMeta PNormInferMeta(const TensorMeta& x, float porder, int axis, bool keepdim, bool asvector);

/// Like ReduceAllInferMeta.
TensorMeta LogsumexpInferMeta(const TensorMeta& x, const std::vector<int64_t>& axis, bool keepdim,
                              bool reduce_all);

/// (out, norm): out has x's meta. norm has 1 along the axis, or no elements if `is_test`. Errors:
/// OutOfRange.
std::tuple<TensorMeta, TensorMeta> NormInferMeta(const TensorMeta& x, int axis, bool is_test);

/// Returns x's meta. Errors: OutOfRange; InvalidArgument unless p is positive.
TensorMeta RenormInferMeta(const TensorMeta& x, float p, int axis);

/// Returns x's meta. Errors: InvalidArgument unless `max_norm` is positive.
TensorMeta ClipByNormInferMeta(const TensorMeta& x, float max_norm);

}  // namespace phi
