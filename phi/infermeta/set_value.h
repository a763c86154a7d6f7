// Shapes of ops that write into a slice with steps, and of views of a storage.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/common/inline_vector.h"
#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// As x. The slice is x[starts[i]:ends[i]:steps[i]] along axes[i], bounds and steps as Python has
/// them; `decrease_axes`, which must come out as 1, are left out of its shape, and before each
/// tensor dim of x that is in `none_axes` comes one of size 1. `values`, as many as `shape` says or
/// one for all, are broadcast to it.
TensorMeta SetValueInferMeta(const TensorMeta& x, const IntArray& starts, const IntArray& ends,
                             const IntArray& steps, const std::vector<int64_t>& axes,
                             const std::vector<int64_t>& decrease_axes,
                             const std::vector<int64_t>& none_axes,
                             const std::vector<int64_t>& shape, const std::vector<Scalar>& values);

/// The same with a tensor of x's dtype.
TensorMeta SetValueWithTensorInferMeta(const TensorMeta& x, const TensorMeta& values,
                                       const IntArray& starts, const IntArray& ends,
                                       const IntArray& steps, const std::vector<int64_t>& axes,
                                       const std::vector<int64_t>& decrease_axes,
                                       const std::vector<int64_t>& none_axes);

/// `dims` of source's dtype, whose storage has room for them `stride` elements apart (as a
/// row-major array where it is empty) from byte `offset` on.
TensorMeta SetInferMeta(const TensorMeta& x, const TensorMeta& source,
                        const std::vector<int64_t>& dims, const std::vector<int64_t>& stride,
                        int64_t offset);

/// The elements begin, begin + step, ... of an extent that a slice `start:end:step` has, as Python
/// counts them. For shape function and kernel alike.
struct SteppedBounds {
  int64_t begin;
  int64_t step;
  int64_t count;
};
SteppedBounds stepped_bounds(int64_t start, int64_t end, int64_t step, int64_t extent);

/// The tensor dim of x that each tensor dim of the slice's shape is, -1 for a new one. For shape
/// function and kernel alike.
using SliceDims = InlineVector<int, 2 * kMaxNdim>;
SliceDims slice_dims(int ndim, const std::vector<int64_t>& decrease_axes,
                     const std::vector<int64_t>& none_axes);

}  // namespace phi
