// Shapes and dtypes of elementwise ops.
#pragma once

#include <span>

#include "phi/common/dtype.h"
#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// The broadcast of x and y, which must have one dtype.
TensorMeta ElementwiseInferMeta(const TensorMeta& x, const TensorMeta& y);

/// Like ElementwiseInferMeta, but the result is bool.
TensorMeta CompareInferMeta(const TensorMeta& x, const TensorMeta& y);

inline TensorMeta UnchangedInferMeta(const TensorMeta& x) { return x; }

/// x with `dtype`. Errors: InvalidArgument if `dtype` is UNDEFINED.
TensorMeta CastInferMeta(const TensorMeta& x, DataType dtype);

/// x with `dtype`; UNDEFINED keeps x's. Errors: InvalidArgument if the dtype cannot represent
/// `value`.
TensorMeta FullLikeInferMeta(const TensorMeta& x, const Scalar& value,
                             DataType dtype = DataType::UNDEFINED);

/// The broadcast of all three. `condition` is bool; x and y have one dtype.
TensorMeta WhereInferMeta(const TensorMeta& condition, const TensorMeta& x, const TensorMeta& y);

/// The meta of the inputs, of which there is at least one and which all have the same.
TensorMeta AddNInferMeta(std::span<const TensorMeta> inputs);

}  // namespace phi
