// Shapes and dtypes of losses beside cross entropy.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// A loss per element; `label` is as `input`.
TensorMeta ElementwiseLossInferMeta(const TensorMeta& input, const TensorMeta& label);

/// The same of columns [N, 1].
TensorMeta ColumnLossInferMeta(const TensorMeta& input, const TensorMeta& label);

/// A loss per element; pos_weight, which may be absent, broadcasts to x.
TensorMeta SigmoidCrossEntropyWithLogitsInferMeta(const TensorMeta& x, const TensorMeta& label,
                                                  const TensorMeta* pos_weight);

/// As x for the reduction "none"; one element for "mean", "sum" and "batchmean".
TensorMeta KLDivInferMeta(const TensorMeta& x, const TensorMeta& label,
                          const std::string& reduction);

/// Gives out and total_weight of log-probabilities [N, C, ...]. out is as label, [N, ...], for the
/// reduction "none", and one element for "mean" and "sum"; total_weight is always one. A weight
/// has an element for each of the C classes.
std::tuple<TensorMeta, TensorMeta> NllLossInferMeta(const TensorMeta& input,
                                                    const TensorMeta& label,
                                                    const TensorMeta* weight,
                                                    const std::string& reduction);

/// x [N, heads, rows, columns] and mask [N, 1 or heads, rows, columns].
TensorMeta FusedSoftmaxMaskInferMeta(const TensorMeta& x, const TensorMeta& mask);

/// As logits [N, C]; label is int32 or int64 [N].
TensorMeta MarginLogitsInferMeta(const TensorMeta& logits, const TensorMeta& label);

}  // namespace phi
