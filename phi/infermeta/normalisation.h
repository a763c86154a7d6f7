// Shape and dtype inference of softmax and the normalisation layers.
#pragma once

#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Returns x's meta. Errors: OutOfRange for the axis; InvalidArgument for a non-floating dtype.
TensorMeta SoftmaxInferMeta(const TensorMeta& x, int axis);

/// The dtype of statistics of x: float32 for half precision, x's dtype otherwise.
DataType statistics_dtype(DataType x);

/// (out, mean, variance) for x normalised over its tensor dims from `begin_norm_axis` on. out has
/// x's meta; the statistics have dims x.dims[0 : begin_norm_axis] and statistics_dtype. `scale` and
/// `bias` have one element per normalised element, in x's dtype or statistics_dtype.
std::tuple<TensorMeta, TensorMeta, TensorMeta> LayerNormInferMeta(const TensorMeta& x,
                                                                  const TensorMeta* scale,
                                                                  const TensorMeta* bias,
                                                                  float epsilon,
                                                                  int begin_norm_axis);

/// (out, invvar) for x divided by the root mean square over its last tensor dim. out has x's meta;
/// invvar has x's dims without the last and statistics_dtype. `scale` has the last extent.
std::tuple<TensorMeta, TensorMeta> RmsNormInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                                    float epsilon);

}  // namespace phi
