// Shape and dtype inference of softmax and the normalisation layers.
#pragma once

#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// x's meta. Errors: OutOfRange for the axis, InvalidArgument for a dtype that is not floating.
TensorMeta SoftmaxInferMeta(const TensorMeta& x, int axis);

/// The dtype in which statistics of x are kept: float32 for 16-bit x, else x's.
DataType statistics_dtype(DataType x);

/// x is normalised over its tensor dims from `begin_norm_axis` on. Gives out (as x), mean and
/// variance (x.dims[0 : begin_norm_axis], of statistics_dtype). `scale` and `bias` have as many
/// elements as the normalised part, and x's dtype or the statistics' one.
std::tuple<TensorMeta, TensorMeta, TensorMeta> LayerNormInferMeta(const TensorMeta& x,
                                                                  const TensorMeta* scale,
                                                                  const TensorMeta* bias,
                                                                  float epsilon,
                                                                  int begin_norm_axis);

/// x is divided by the root mean square over its last tensor dim. Gives out (as x) and invvar
/// (x.dims without the last, of statistics_dtype). `scale` has the last tensor dim's extent.
std::tuple<TensorMeta, TensorMeta> RmsNormInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                                    float epsilon);

}  // namespace phi
