// Shapes and dtypes of ops that draw from distributions, and the checks of parameters that are
// attributes.
#pragma once

#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// A draw for each element of x, whose dtype is floating.
TensorMeta SampledInferMeta(const TensorMeta& x);

/// int64, as count and prob are broadcast to each other. Errors: InvalidArgument unless count is of
/// int32, int64 or floating dtype and prob of floating dtype.
TensorMeta BinomialInferMeta(const TensorMeta& count, const TensorMeta& prob);

/// As alpha, which has at least one tensor dim: along the last are the parameters of a draw.
TensorMeta DirichletInferMeta(const TensorMeta& alpha);

/// As x. Errors: InvalidArgument unless lam is above 0.
TensorMeta ExponentialInferMeta(const TensorMeta& x, float lam);

/// int64 [*, num_samples] for the weights x [classes] or [rows, classes]. Errors: InvalidArgument
/// if there are fewer classes than samples, without replacement.
TensorMeta MultinomialInferMeta(const TensorMeta& x, const Scalar& num_samples, bool replacement);

/// Errors: InvalidArgument unless low is below high and the dtype integral with room for both.
TensorMeta RandintInferMeta(int low, int high, const IntArray& shape, DataType dtype);

/// [n]. Errors: InvalidArgument for a negative n.
TensorMeta RandpermInferMeta(int n, DataType dtype);

/// Errors: InvalidArgument unless a is below b, std at least 0 and the dtype floating.
TensorMeta TruncatedGaussianInferMeta(const std::vector<int>& shape, float std, float a, float b,
                                      DataType dtype);

/// Gives remapped_label, as label [N], and sampled_local_class_center, whose extent depends on the
/// labels.
std::tuple<TensorMeta, TensorMeta> ClassCenterSampleInferMeta(const TensorMeta& label,
                                                              int num_classes, int num_samples,
                                                              int ring_id, int rank, int nranks);

}  // namespace phi
