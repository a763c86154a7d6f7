// Sharding rules of reductions, and of ops that need a whole axis.
#pragma once

#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// The output is Partial(kind) over the mesh dims that split reduced dims. An empty `axis` means
/// all dims.
SpmdRule ReductionInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            ReduceKind kind);
SpmdRule ReductionSumInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
/// Partial(sum): the kernel divides local sums by the global count. Unlike an average of averages
/// this is right for uneven shards.
SpmdRule ReductionMeanInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionMaxInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionMinInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionAllInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim);
SpmdRule ReductionAnyInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim);
SpmdRule ReductionProdInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                                bool reduce_all);
/// Sums x to the shape of target: Partial(sum) where a summed dim is split. target follows, and a
/// partial x stays partial.
SpmdRule ReduceAsInferSpmd(const TensorSpec& x, const TensorSpec& target);
/// [1], the sum over all elements; Partial(sum) where x is split.
SpmdRule SquaredL2NormInferSpmd(const TensorSpec& x);
/// Reduced dims must be whole: norms or log-sum-exps of parts do not add up.
SpmdRule LogSumExpInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim,
                            bool reduce_all);
SpmdRule FrobeniusNormInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                                bool reduce_all);
/// Reduced dims may be split if the norm is a maximum (porder inf), a minimum (-inf) or a sum (1
/// and 0); out is then partial. Otherwise they must be whole.
SpmdRule PNormInferSpmd(const TensorSpec& x, float porder, int axis, float epsilon, bool keepdim,
                        bool asvector);
/// Gradients of these norms. An element of x_grad needs its own x and the reduced value, so reduced
/// dims may be split.
SpmdRule LogSumExpGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                const TensorSpec& out_grad, const std::vector<int64_t>& axis,
                                bool keepdim, bool reduce_all);
SpmdRule FrobeniusNormGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                    const TensorSpec& out_grad, const IntArray& axis, bool keepdim,
                                    bool reduce_all);
SpmdRule PNormGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                            float porder, int axis, float epsilon, bool keepdim, bool asvector);
/// The axis must be whole; with `flatten` all of x must be.
SpmdRule ArgMaxInferSpmd(const TensorSpec& x, const Scalar& axis, bool keepdims, bool flatten);
/// The axis must be whole.
SpmdRule SoftmaxInferSpmd(const TensorSpec& x, int axis);
SpmdRule SoftmaxGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad, int axis);

/// Both axes of the diagonal must be whole. The op is a sum, so a partial x stays partial.
SpmdRule TraceInferSpmd(const TensorSpec& x, int axis1, int axis2);
SpmdRule TraceGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis1, int axis2);
/// Divides x by its norm along an axis, which must be whole. Outputs: out, and the norms, with
/// extent 1 along the axis (empty if `is_test`).
SpmdRule NormInferSpmd(const TensorSpec& x, int axis, bool is_test);
SpmdRule NormGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);
/// Scales slices along the axis by their norms: all other dims must be whole.
SpmdRule RenormInferSpmd(const TensorSpec& x, int axis);
SpmdRule RenormGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);

/// Each rank counts its elements: the output is Partial(sum) if the bins do not depend on the data.
SpmdRule HistogramInferSpmd(const TensorSpec& input, const TensorSpec* weight, int64_t bins,
                            int min, int max, bool density);
/// Rows may be split; the three outputs are then Partial(sum), because the kernel divides by the
/// global number of rows.
SpmdRule AccuracyInferSpmd(const TensorSpec& x, const TensorSpec& indices, const TensorSpec& label);

}  // namespace phi::distributed
