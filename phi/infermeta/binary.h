// Shapes and dtypes of elementwise ops of two and three inputs beyond plain arithmetic.
#pragma once

#include "phi/core/meta.h"

namespace phi {

/// As ElementwiseInferMeta; a quotient of integers is float32.
TensorMeta DivideInferMeta(const TensorMeta& x, const TensorMeta& y);

/// Two tensors of one shape and dtype; the result is such a one.
TensorMeta SameDimsInferMeta(const TensorMeta& x, const TensorMeta& y);

/// As SameDimsInferMeta; the angles of integers are float64.
TensorMeta Atan2InferMeta(const TensorMeta& x, const TensorMeta& y);

/// As SameDimsInferMeta; the result is bool.
TensorMeta IsCloseInferMeta(const TensorMeta& x, const TensorMeta& y);

/// As IsCloseInferMeta; one answer for all elements.
TensorMeta AllCloseInferMeta(const TensorMeta& x, const TensorMeta& y);

/// One bool. Shapes may differ, dtypes may not.
TensorMeta EqualAllInferMeta(const TensorMeta& x, const TensorMeta& y);

/// All three broadcast, and are of one dtype.
TensorMeta LerpInferMeta(const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight);

}  // namespace phi
