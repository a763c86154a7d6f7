// Shapes and dtypes of functions of one input, of activations with weights, and of complex numbers.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Of functions whose values are no whole numbers: integers give float32.
TensorMeta FloatUnaryInferMeta(const TensorMeta& x);

/// `n` is 0 or more.
TensorMeta PolygammaInferMeta(const TensorMeta& x, int n);

/// `min` is at most `max`.
TensorMeta ClipInferMeta(const TensorMeta& x, const Scalar& min, const Scalar& max);

/// x has one element.
TensorMeta IncrementInferMeta(const TensorMeta& x);

/// label has a last tensor dim, of classes; prior_dist as many elements, all in its own last one.
TensorMeta LabelSmoothInferMeta(const TensorMeta& label, const TensorMeta* prior_dist);

/// The extent of `axis` is a multiple of `groups`, which is more than 1, and is divided by it.
TensorMeta MaxOutInferMeta(const TensorMeta& x, int groups, int axis);

/// alpha has one element (mode "all"), one for each channel ("channel"; channels are dim 1 in NCHW
/// and the last one in NHWC) or one for each element of a sample ("element").
TensorMeta PReluInferMeta(const TensorMeta& x, const TensorMeta& alpha,
                          const std::string& data_format, const std::string& mode);

/// out and noise, both as x. 0 <= lower <= upper <= 1.
std::tuple<TensorMeta, TensorMeta> RReluInferMeta(const TensorMeta& x, float lower, float upper);

/// Complex numbers give real ones; others keep their dtype.
TensorMeta ModulusInferMeta(const TensorMeta& x);
/// x is complex; its parts are real.
TensorMeta RealPartInferMeta(const TensorMeta& x);
/// Both broadcast; they are of one dtype, float32 or float64.
TensorMeta ComplexInferMeta(const TensorMeta& real, const TensorMeta& imag);
/// x is complex; a last tensor dim of its two parts is added.
TensorMeta AsRealInferMeta(const TensorMeta& x);
/// x is float32 or float64, and its last extent 2: the parts of complex numbers.
TensorMeta AsComplexInferMeta(const TensorMeta& x);

}  // namespace phi
