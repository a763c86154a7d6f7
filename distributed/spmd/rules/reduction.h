// Rules of reductions, and of ops that need whole an axis that they work along.
#pragma once

#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// Splits of reduced dims make the output Partial(kind). No axis means all.
SpmdRule ReductionInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            ReduceKind kind);
SpmdRule ReductionSumInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
/// Partial(sum): the kernel divides local sums by the global count, which is right for uneven
/// shards where an average of averages is not.
SpmdRule ReductionMeanInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionMaxInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionMinInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionAllInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim);
SpmdRule ReductionAnyInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim);
SpmdRule ReductionProdInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                                bool reduce_all);
/// Sums x down to target's shape: Partial(sum) where a split tensor dim goes. Target follows, and a
/// partial x stays as it is.
SpmdRule ReduceAsInferSpmd(const TensorSpec& x, const TensorSpec& target);
/// [1], the sum over all elements: Partial(sum) where x is split.
SpmdRule SquaredL2NormInferSpmd(const TensorSpec& x);
/// Reduced dims must be whole: parts of a norm, or of the logarithm of a sum, do not add up.
SpmdRule LogSumExpInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim,
                            bool reduce_all);
SpmdRule FrobeniusNormInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                                bool reduce_all);
/// Reduced dims may be split where the norm is a maximum (porder inf), a minimum (-inf) or a sum (1
/// and 0), which makes out partial, and must be whole otherwise.
SpmdRule PNormInferSpmd(const TensorSpec& x, float porder, int axis, float epsilon, bool keepdim,
                        bool asvector);
/// Gradients of these: each element of x's needs its own x and what it was reduced to, so reduced
/// dims may be split.
SpmdRule LogSumExpGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                const TensorSpec& out_grad, const std::vector<int64_t>& axis,
                                bool keepdim, bool reduce_all);
SpmdRule FrobeniusNormGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                    const TensorSpec& out_grad, const IntArray& axis, bool keepdim,
                                    bool reduce_all);
SpmdRule PNormGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                            float porder, int axis, float epsilon, bool keepdim, bool asvector);
/// The axis must be whole; with `flatten` all of x.
SpmdRule ArgMaxInferSpmd(const TensorSpec& x, const Scalar& axis, bool keepdims, bool flatten);
/// The axis must be whole.
SpmdRule SoftmaxInferSpmd(const TensorSpec& x, int axis);
SpmdRule SoftmaxGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad, int axis);

/// Both axes of the diagonal must be whole; a sum, so that a partial x stays as it is.
SpmdRule TraceInferSpmd(const TensorSpec& x, int axis1, int axis2);
SpmdRule TraceGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis1, int axis2);
/// x divided by its norm along an axis, which must be whole. Outputs: out and, with 1 along the
/// axis or empty if `is_test`, the norms.
SpmdRule NormInferSpmd(const TensorSpec& x, int axis, bool is_test);
SpmdRule NormGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);
/// Slices along the axis are scaled by their norms: all other dims must be whole.
SpmdRule RenormInferSpmd(const TensorSpec& x, int axis);
SpmdRule RenormGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);

/// Elements counted by rank make the output Partial(sum), where the bins do not depend on them.
SpmdRule HistogramInferSpmd(const TensorSpec& input, const TensorSpec* weight, int64_t bins,
                            int min, int max, bool density);
/// Rows may be split, which makes the three outputs Partial(sum): the kernel divides by the global
/// number of rows.
SpmdRule AccuracyInferSpmd(const TensorSpec& x, const TensorSpec& indices, const TensorSpec& label);

}  // namespace phi::distributed
