// Shapes and dtypes of scans, and of ops that order, choose or look up elements along an axis.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// As x, or one line of all its elements with `flatten`. Errors: OutOfRange for an axis x lacks.
TensorMeta CumsumInferMeta(const TensorMeta& x, const Scalar& axis, bool flatten);
/// The same; float32 for integers.
TensorMeta LogcumsumexpInferMeta(const TensorMeta& x, const Scalar& axis, bool flatten);

/// As x. Errors: OutOfRange; of a 0-D x dim must be 0.
TensorMeta CumprodInferMeta(const TensorMeta& x, int dim);

/// Values as x, and indices of `dtype`. Errors: OutOfRange; InvalidArgument unless `dtype` is int32
/// or int64 and holds x's extent along the axis.
std::tuple<TensorMeta, TensorMeta> CumWithIndicesInferMeta(const TensorMeta& x, int axis,
                                                           DataType dtype);

/// Values as x, and int64 indices.
std::tuple<TensorMeta, TensorMeta> ArgsortInferMeta(const TensorMeta& x, int axis);

/// The same with k along the axis. Errors: InvalidArgument unless 1 <= k <= the extent there.
std::tuple<TensorMeta, TensorMeta> TopkInferMeta(const TensorMeta& x, const Scalar& k, int axis);

/// Without the axis, or with 1 there. Errors: as TopkInferMeta.
std::tuple<TensorMeta, TensorMeta> KthvalueInferMeta(const TensorMeta& x, int k, int axis,
                                                     bool keepdim);
std::tuple<TensorMeta, TensorMeta> ModeInferMeta(const TensorMeta& x, int axis, bool keepdim);

/// x reduced over `axis`; int64 medians with two for each of these if `mode` is "avg", one if it is
/// "min". Errors: InvalidArgument for another mode, and for integers if there is nothing to choose
/// from.
std::tuple<TensorMeta, TensorMeta> NanmedianInferMeta(const TensorMeta& x, const IntArray& axis,
                                                      bool keepdim, const std::string& mode);

/// int64, or int32, of values' shape. Errors: InvalidArgument unless the sequence is 1-D or has all
/// tensor dims of values but the last, and for two dtypes.
TensorMeta SearchsortedInferMeta(const TensorMeta& sorted_sequence, const TensorMeta& values,
                                 bool out_int32);

}  // namespace phi
