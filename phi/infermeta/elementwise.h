// Shapes and dtypes of elementwise ops.
#pragma once

#include <span>

#include "phi/common/dtype.h"
#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// x and y broadcast; they must be of one dtype.
TensorMeta ElementwiseInferMeta(const TensorMeta& x, const TensorMeta& y);

/// As ElementwiseInferMeta; the result is bool.
TensorMeta CompareInferMeta(const TensorMeta& x, const TensorMeta& y);

inline TensorMeta UnchangedInferMeta(const TensorMeta& x) { return x; }

/// Errors: InvalidArgument if `dtype` is UNDEFINED.
TensorMeta CastInferMeta(const TensorMeta& x, DataType dtype);

/// UNDEFINED keeps x's dtype. Errors: InvalidArgument for a finite `value` that it has not.
TensorMeta FullLikeInferMeta(const TensorMeta& x, const Scalar& value,
                             DataType dtype = DataType::UNDEFINED);

/// All three broadcast; `condition` is bool, x and y are of one dtype.
TensorMeta WhereInferMeta(const TensorMeta& condition, const TensorMeta& x, const TensorMeta& y);

/// At least one input, all of one shape and dtype.
TensorMeta AddNInferMeta(std::span<const TensorMeta> inputs);

}  // namespace phi
