// Shapes and dtypes of dropout and of ops that create tensors from attributes.
#pragma once

#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// An array of `shape` and `dtype`. Errors: InvalidArgument for a negative extent or an UNDEFINED
/// dtype.
TensorMeta CreateInferMeta(const IntArray& shape, DataType dtype);

/// Like CreateInferMeta, for elements equal to `value`. Errors: also those of check_held.
TensorMeta FullInferMeta(const IntArray& shape, const Scalar& value, DataType dtype);

/// start, start + step, .. before `end`: ceil((end - start) / step) elements, or none if `end` is
/// in the other direction. Errors: InvalidArgument for step 0, a bound that is not finite, a dtype
/// that is not a number, or one that cannot represent the first or last element.
TensorMeta ArangeInferMeta(const Scalar& start, const Scalar& end, const Scalar& step,
                           DataType dtype);

/// (out, mask): out has x's meta; mask is uint8 of x's shape, 1 for each element that is kept.
std::tuple<TensorMeta, TensorMeta> DropoutInferMeta(const TensorMeta& x);

}  // namespace phi
