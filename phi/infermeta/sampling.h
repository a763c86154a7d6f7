// Shapes and dtypes of ops that draw from distributions, and checks of parameters that are
// attributes.
#pragma once

#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// One draw per element of x, whose dtype is floating.
TensorMeta SampledInferMeta(const TensorMeta& x);

/// int64, with the broadcast dims of count and prob. Errors: InvalidArgument unless count is int32,
/// int64 or floating and prob is floating.
TensorMeta BinomialInferMeta(const TensorMeta& count, const TensorMeta& prob);

/// Returns alpha's meta. Its last tensor dim holds the parameters of one draw.
TensorMeta DirichletInferMeta(const TensorMeta& alpha);

/// Returns x's meta. Errors: InvalidArgument unless lam is positive.
TensorMeta ExponentialInferMeta(const TensorMeta& x, float lam);

/// int64 [*, num_samples] for weights x [classes] or [rows, classes]. Errors: InvalidArgument for
/// more samples than classes without replacement.
TensorMeta MultinomialInferMeta(const TensorMeta& x, const Scalar& num_samples, bool replacement);

/// Errors: InvalidArgument unless low is below high and the dtype is integral and represents both.
TensorMeta RandintInferMeta(int low, int high, const IntArray& shape, DataType dtype);

/// [n]. Errors: InvalidArgument if n is negative.
TensorMeta RandpermInferMeta(int n, DataType dtype);

/// Errors: InvalidArgument unless a is below b, std is at least 0 and the dtype is floating.
TensorMeta TruncatedGaussianInferMeta(const std::vector<int>& shape, float std, float a, float b,
                                      DataType dtype);

/// (remapped_label, sampled_local_class_center): the first has the meta of label [N]; the extent of
/// the second depends on the labels.
std::tuple<TensorMeta, TensorMeta> ClassCenterSampleInferMeta(const TensorMeta& label,
                                                              int num_classes, int num_samples,
                                                              int ring_id, int rank, int nranks);

}  // namespace phi
