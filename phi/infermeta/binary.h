// Shapes and dtypes of elementwise ops of two or three inputs other than basic arithmetic.
#pragma once

#include "phi/core/meta.h"

namespace phi {

/// Like ElementwiseInferMeta, but integers give float32.
TensorMeta DivideInferMeta(const TensorMeta& x, const TensorMeta& y);

/// Requires x and y of the same shape and dtype, and returns their meta.
TensorMeta SameDimsInferMeta(const TensorMeta& x, const TensorMeta& y);

/// Like SameDimsInferMeta, but integers give float64.
TensorMeta Atan2InferMeta(const TensorMeta& x, const TensorMeta& y);

/// Like SameDimsInferMeta, but the result is bool.
TensorMeta IsCloseInferMeta(const TensorMeta& x, const TensorMeta& y);

/// Like IsCloseInferMeta, but the result is one 0-D bool.
TensorMeta AllCloseInferMeta(const TensorMeta& x, const TensorMeta& y);

/// One 0-D bool. Shapes may differ; dtypes must be equal.
TensorMeta EqualAllInferMeta(const TensorMeta& x, const TensorMeta& y);

/// The broadcast of all three, which have one dtype.
TensorMeta LerpInferMeta(const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight);

}  // namespace phi
