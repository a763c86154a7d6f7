// Shapes and dtypes of ops that make tensors from attributes, and of dropout.
#pragma once

#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Errors: InvalidArgument for a negative extent or an UNDEFINED dtype.
TensorMeta CreateInferMeta(const IntArray& shape, DataType dtype);

/// The same, of elements that are all `value`. Errors: those of check_held.
TensorMeta FullInferMeta(const IntArray& shape, const Scalar& value, DataType dtype);

/// start, start + step, ... before `end`: ceil((end - start) / step) elements, none if `end` lies
/// the other way. Errors: InvalidArgument for step 0, a bound that is not finite, a dtype that does
/// not count, or that does not hold the first or the last element.
TensorMeta ArangeInferMeta(const Scalar& start, const Scalar& end, const Scalar& step,
                           DataType dtype);

/// (out, mask): out as x, mask uint8 of the same shape, 1 where the element was kept.
std::tuple<TensorMeta, TensorMeta> DropoutInferMeta(const TensorMeta& x);

}  // namespace phi
