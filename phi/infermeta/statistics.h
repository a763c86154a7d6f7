// Shapes and dtypes of counts: bincount, histogram, segment pooling, accuracy and AUC.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// [?]: int64 without weights; with weights float32 for float32 and float64 for other dtypes.
/// Errors: InvalidArgument unless x is 1-D, weights have x's length and minlength is at least 0.
TensorMeta BincountInferMeta(const TensorMeta& x, const TensorMeta* weights,
                             const Scalar& minlength);

/// [bins]: int64, or float32 with weight or density. Errors: InvalidArgument unless bins is
/// positive, min is at most max, and weight has input's meta.
TensorMeta HistogramInferMeta(const TensorMeta& input, const TensorMeta* weight, int64_t bins,
                              int min, int max, bool density);

/// x with ? rows. Errors: InvalidArgument unless segment_ids has one integer per row of x and
/// pooltype is SUM, MEAN, MAX or MIN.
TensorMeta SegmentPoolInferMeta(const TensorMeta& x, const TensorMeta& segment_ids,
                                const std::string& pooltype);

/// (accuracy, correct, total): 0-D float32, int32 and int32. Errors: InvalidArgument unless x and
/// indices are [n, k] and label is [n, 1] of indices' dtype.
std::tuple<TensorMeta, TensorMeta, TensorMeta> AccuracyInferMeta(const TensorMeta& x,
                                                                 const TensorMeta& indices,
                                                                 const TensorMeta& label);

/// (auc, stat_pos, stat_neg): auc is a 0-D float64. Errors: InvalidArgument unless x is [n, 1] or
/// [n, 2], label is int64 [n] or [n, 1], and the statistics are int64 with num_thresholds + 1
/// counts for each of slide_steps windows and for their sum.
std::tuple<TensorMeta, TensorMeta, TensorMeta> AucInferMeta(
    const TensorMeta& x, const TensorMeta& label, const TensorMeta& stat_pos,
    const TensorMeta& stat_neg, const TensorMeta* ins_tag_weight, const std::string& curve,
    int num_thresholds, int slide_steps);

}  // namespace phi
