// Shapes of ops that move elements without changing them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// x with the dims `shape`, where 0 copies x's extent of the same tensor dim and one -1 is inferred
/// from the rest. If x is empty and no copied extent would be 0, a 0 means an extent of 0.
TensorMeta ReshapeInferMeta(const TensorMeta& x, const IntArray& shape);

/// Removes the tensor dims in `axis` that have size 1 (all of size 1 if `axis` is empty).
TensorMeta SqueezeInferMeta(const TensorMeta& x, const IntArray& axis);

/// Inserts a tensor dim of size 1 at each axis, in order. Each axis counts in the shape after the
/// insertions before it.
TensorMeta UnsqueezeInferMeta(const TensorMeta& x, const IntArray& axis);

/// Tensor dim i of the result is tensor dim perm[i] of x.
TensorMeta TransposeInferMeta(const TensorMeta& x, const std::vector<int>& perm);

/// Concatenates along `axis`. Errors: OutOfRange for the axis; InvalidArgument for an empty list,
/// and for dtypes or other extents that differ.
TensorMeta ConcatInferMeta(std::span<const TensorMeta> x, const Scalar& axis);

/// Parts of the extents `sections` along `axis`. One section may be -1; it is inferred from the
/// others and must be positive. Errors: OutOfRange for the axis; InvalidArgument for sections that
/// do not add up to the extent.
std::vector<TensorMeta> SplitInferMeta(const TensorMeta& x, const IntArray& sections,
                                       const Scalar& axis);
/// `num` equal parts. Errors: OutOfRange for the axis; InvalidArgument unless num divides the
/// extent.
std::vector<TensorMeta> SplitWithNumInferMeta(const TensorMeta& x, int num, const Scalar& axis);

/// input[starts[i]:ends[i]] along axes[i]. Negative bounds count from the end, and all are clamped
/// to the extent. The tensor dims in `decrease_axis`, which must have size 1 then, are removed.
TensorMeta SliceInferMeta(const TensorMeta& input, const std::vector<int64_t>& axes,
                          const IntArray& starts, const IntArray& ends,
                          const std::vector<int64_t>& infer_flags,
                          const std::vector<int64_t>& decrease_axis);

/// Returns x's meta. `value` must have x's dtype and the shape of the slice.
TensorMeta SliceScatterInferMeta(const TensorMeta& x, const TensorMeta& value,
                                 const std::vector<int64_t>& axes, const IntArray& starts,
                                 const IntArray& ends, const std::vector<int64_t>& decrease_axis);

/// x broadcast to `shape`, where -1 keeps x's extent.
TensorMeta ExpandInferMeta(const TensorMeta& x, const IntArray& shape);

/// x broadcast to the shape of y.
TensorMeta ExpandAsInferMeta(const TensorMeta& x, const TensorMeta& y);
/// x broadcast to the shape of y, or to target_shape if y is absent.
TensorMeta ExpandToInferMeta(const TensorMeta& x, const TensorMeta* y,
                             const std::vector<int64_t>& target_shape);

/// Returns the meta of x, which has at least two tensor dims.
TensorMeta TrilInferMeta(const TensorMeta& x, int diagonal);

/// The bounds [begin, end) of the slice `start:end` of an extent. Negative bounds count from the
/// end, all are clamped to the extent, and an end before the start gives an empty slice. Shared by
/// shape function, rule and kernel.
struct SliceBounds {
  int64_t begin;
  int64_t end;
};
SliceBounds slice_bounds(int64_t start, int64_t end, int64_t extent);

}  // namespace phi
