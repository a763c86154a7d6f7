// Shapes of ops that move elements without changing them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// In `shape`, 0 copies x's extent of the same tensor dim, and one -1 takes what is left. Where x
/// is empty and nothing that is copied would be, 0 is 0.
TensorMeta ReshapeInferMeta(const TensorMeta& x, const IntArray& shape);

/// Removes the tensor dims in `axis` that are 1 (all that are 1 if it is empty); others stay.
TensorMeta SqueezeInferMeta(const TensorMeta& x, const IntArray& axis);

/// Puts in a tensor dim of size 1 at each axis, one after the other, each counted in the shape that
/// the ones before it left.
TensorMeta UnsqueezeInferMeta(const TensorMeta& x, const IntArray& axis);

/// Tensor dim i of the result is tensor dim perm[i] of x.
TensorMeta TransposeInferMeta(const TensorMeta& x, const std::vector<int>& perm);

TensorMeta ConcatInferMeta(std::span<const TensorMeta> x, const Scalar& axis);

/// One section may be -1: it takes what the others leave.
std::vector<TensorMeta> SplitInferMeta(const TensorMeta& x, const IntArray& sections,
                                       const Scalar& axis);
std::vector<TensorMeta> SplitWithNumInferMeta(const TensorMeta& x, int num, const Scalar& axis);

/// input[starts[i]:ends[i]] along axes[i]. Negative bounds count from the end, all are clamped to
/// the extent. The tensor dims in `decrease_axis`, which must come out as 1, are removed.
TensorMeta SliceInferMeta(const TensorMeta& input, const std::vector<int64_t>& axes,
                          const IntArray& starts, const IntArray& ends,
                          const std::vector<int64_t>& infer_flags,
                          const std::vector<int64_t>& decrease_axis);

/// x; `value` must have the dtype of x, and the shape of the slice that the attributes take of it.
TensorMeta SliceScatterInferMeta(const TensorMeta& x, const TensorMeta& value,
                                 const std::vector<int64_t>& axes, const IntArray& starts,
                                 const IntArray& ends, const std::vector<int64_t>& decrease_axis);

/// x broadcast to `shape`; -1 keeps x's extent.
TensorMeta ExpandInferMeta(const TensorMeta& x, const IntArray& shape);

/// x broadcast to the shape of y.
TensorMeta ExpandAsInferMeta(const TensorMeta& x, const TensorMeta& y);
/// The same; to target_shape where y is absent.
TensorMeta ExpandToInferMeta(const TensorMeta& x, const TensorMeta* y,
                             const std::vector<int64_t>& target_shape);

TensorMeta TrilInferMeta(const TensorMeta& x, int diagonal);

/// The bounds [begin, end) of a slice `start:end` in an extent: negative ones count from its end,
/// all are clamped to it, and an end before the start gives nothing. For shape function, rule and
/// kernel alike.
struct SliceBounds {
  int64_t begin;
  int64_t end;
};
SliceBounds slice_bounds(int64_t start, int64_t end, int64_t extent);

}  // namespace phi
