// Shapes and dtypes of ops on one tensor, of activations with weights, and of complex numbers.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// For functions with fractional values: integers give float32.
TensorMeta FloatUnaryInferMeta(const TensorMeta& x);

/// Returns x's meta. `n` is at least 0.
TensorMeta PolygammaInferMeta(const TensorMeta& x, int n);

/// Returns x's meta. `min` is at most `max`.
TensorMeta ClipInferMeta(const TensorMeta& x, const Scalar& min, const Scalar& max);

/// Returns the meta of x, which has one element.
TensorMeta IncrementInferMeta(const TensorMeta& x);

/// Returns the meta of label, whose last tensor dim counts classes. prior_dist has one element per
/// class, all in its last tensor dim.
TensorMeta LabelSmoothInferMeta(const TensorMeta& label, const TensorMeta* prior_dist);

/// x with the extent of `axis` divided by `groups`, which is greater than 1 and divides it.
TensorMeta MaxOutInferMeta(const TensorMeta& x, int groups, int axis);

/// Returns x's meta. alpha has one element (mode "all"), one per channel ("channel": tensor dim 1
/// in NCHW, the last one in NHWC) or one per element of a sample ("element").
TensorMeta PReluInferMeta(const TensorMeta& x, const TensorMeta& alpha,
                          const std::string& data_format, const std::string& mode);

/// (out, noise), both with x's meta. 0 <= lower <= upper <= 1.
std::tuple<TensorMeta, TensorMeta> RReluInferMeta(const TensorMeta& x, float lower, float upper);

/// Complex x gives its real dtype; others keep their dtype.
TensorMeta ModulusInferMeta(const TensorMeta& x);
/// The real dtype of x, which is complex.
TensorMeta RealPartInferMeta(const TensorMeta& x);
/// The complex broadcast of both, which have one dtype: float32 or float64.
TensorMeta ComplexInferMeta(const TensorMeta& real, const TensorMeta& imag);
/// x, which is complex, as real numbers with a new last tensor dim of size 2: real and imaginary.
TensorMeta AsRealInferMeta(const TensorMeta& x);
/// The inverse of AsRealInferMeta: x is float32 or float64, and its last extent is 2.
TensorMeta AsComplexInferMeta(const TensorMeta& x);

}  // namespace phi
