// Shapes and dtypes of scans, and of ops that sort, select or search along an axis.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// x's meta, flattened to 1-D if `flatten`. Errors: OutOfRange for an axis outside x.
TensorMeta CumsumInferMeta(const TensorMeta& x, const Scalar& axis, bool flatten);
/// Like CumsumInferMeta, but integers give float32.
TensorMeta LogcumsumexpInferMeta(const TensorMeta& x, const Scalar& axis, bool flatten);

/// Returns x's meta. Errors: OutOfRange; the dim of a 0-D x must be 0.
TensorMeta CumprodInferMeta(const TensorMeta& x, int dim);

/// (values, indices): values have x's meta, indices have `dtype`. Errors: OutOfRange;
/// InvalidArgument unless `dtype` is int32 or int64 and can represent x's extent along the axis.
std::tuple<TensorMeta, TensorMeta> CumWithIndicesInferMeta(const TensorMeta& x, int axis,
                                                           DataType dtype);

/// (values, indices): values have x's meta, indices are int64.
std::tuple<TensorMeta, TensorMeta> ArgsortInferMeta(const TensorMeta& x, int axis);

/// Like ArgsortInferMeta, with k elements along the axis. Errors: InvalidArgument unless
/// 1 <= k <= the extent.
std::tuple<TensorMeta, TensorMeta> TopkInferMeta(const TensorMeta& x, const Scalar& k, int axis);

/// (value, index) without the axis, or with 1 there if `keepdim`. Errors: those of TopkInferMeta.
std::tuple<TensorMeta, TensorMeta> KthvalueInferMeta(const TensorMeta& x, int k, int axis,
                                                     bool keepdim);
/// Like KthvalueInferMeta. Errors: OutOfRange; InvalidArgument if the axis has no elements.
std::tuple<TensorMeta, TensorMeta> ModeInferMeta(const TensorMeta& x, int axis, bool keepdim);

/// (medians, indices) of x reduced over `axis`. Indices are int64: two per median if `mode` is
/// "avg", one if it is "min". Errors: InvalidArgument for another mode, and for a reduction over no
/// elements of an integer x.
std::tuple<TensorMeta, TensorMeta> NanmedianInferMeta(const TensorMeta& x, const IntArray& axis,
                                                      bool keepdim, const std::string& mode);

/// int64 (int32 if `out_int32`) of values' shape. Errors: InvalidArgument unless the sequence is
/// 1-D or has all tensor dims of values but the last; for dtypes that differ; and for positions
/// that int32 cannot represent.
TensorMeta SearchsortedInferMeta(const TensorMeta& sorted_sequence, const TensorMeta& values,
                                 bool out_int32);

}  // namespace phi
