// Shapes and dtypes of counts: of values, of segments, of predictions that meet their labels.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// [?]: int64, or with weights float32 for float32 and float64 for other dtypes. Errors:
/// InvalidArgument unless x is 1-D, weights are as long and minlength is not negative.
TensorMeta BincountInferMeta(const TensorMeta& x, const TensorMeta* weights,
                             const Scalar& minlength);

/// [bins]: int64, or float32 with weight or density. Errors: InvalidArgument unless bins is above
/// 0, min not above max, and weight as input.
TensorMeta HistogramInferMeta(const TensorMeta& input, const TensorMeta* weight, int64_t bins,
                              int min, int max, bool density);

/// x with ? rows. Errors: InvalidArgument unless segment_ids has one integer per row of x, and for
/// another pooltype than SUM, MEAN, MAX and MIN.
TensorMeta SegmentPoolInferMeta(const TensorMeta& x, const TensorMeta& segment_ids,
                                const std::string& pooltype);

/// accuracy float32, correct and total int32, all 0-D. Errors: InvalidArgument unless x and indices
/// are [n, k] and label is [n, 1] of indices' dtype.
std::tuple<TensorMeta, TensorMeta, TensorMeta> AccuracyInferMeta(const TensorMeta& x,
                                                                 const TensorMeta& indices,
                                                                 const TensorMeta& label);

/// auc, a float64 scalar, and both statistics as they are. Errors: InvalidArgument unless x is [n,
/// 1] or [n, 2], label int64 [n] or [n, 1], and the statistics int64 with room for num_thresholds +
/// 1 counts in each of slide_steps windows and in their sum.
std::tuple<TensorMeta, TensorMeta, TensorMeta> AucInferMeta(
    const TensorMeta& x, const TensorMeta& label, const TensorMeta& stat_pos,
    const TensorMeta& stat_neg, const TensorMeta* ins_tag_weight, const std::string& curve,
    int num_thresholds, int slide_steps);

}  // namespace phi
