// Shapes and dtypes of losses other than cross entropy.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// One loss per element. `label` has input's meta.
TensorMeta ElementwiseLossInferMeta(const TensorMeta& input, const TensorMeta& label);

/// Like ElementwiseLossInferMeta, for columns [N, 1].
TensorMeta ColumnLossInferMeta(const TensorMeta& input, const TensorMeta& label);

/// One loss per element. pos_weight, if present, broadcasts to x.
TensorMeta SigmoidCrossEntropyWithLogitsInferMeta(const TensorMeta& x, const TensorMeta& label,
                                                  const TensorMeta* pos_weight);

/// x's shape for the reduction "none"; one element for "mean", "sum" and "batchmean".
TensorMeta KLDivInferMeta(const TensorMeta& x, const TensorMeta& label,
                          const std::string& reduction);

/// (out, total_weight) for log-probabilities input [N, C, ...] and label [N, ...]. out has label's
/// shape for the reduction "none" and one element for "mean" and "sum". total_weight has one
/// element. A weight has one element per class.
std::tuple<TensorMeta, TensorMeta> NllLossInferMeta(const TensorMeta& input,
                                                    const TensorMeta& label,
                                                    const TensorMeta* weight,
                                                    const std::string& reduction);

/// The meta of x [N, heads, rows, columns]. mask is [N, 1 or heads, rows, columns].
TensorMeta FusedSoftmaxMaskInferMeta(const TensorMeta& x, const TensorMeta& mask);

/// The meta of logits [N, C]. label is int32 or int64 [N].
TensorMeta MarginLogitsInferMeta(const TensorMeta& logits, const TensorMeta& label);

}  // namespace phi
