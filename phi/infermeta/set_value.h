// Shapes of ops that write into a strided slice, and of views of a storage.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/common/inline_vector.h"
#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Returns x's meta. The slice is x[starts[i]:ends[i]:steps[i]] along axes[i], with Python's rules
/// for bounds and steps. Its shape omits the dims in `decrease_axes`, which must have size 1, and
/// has a dim of size 1 before each tensor dim of x that is in `none_axes`. `values` (as many as
/// `shape` has elements, or one) are broadcast to the slice.
TensorMeta SetValueInferMeta(const TensorMeta& x, const IntArray& starts, const IntArray& ends,
                             const IntArray& steps, const std::vector<int64_t>& axes,
                             const std::vector<int64_t>& decrease_axes,
                             const std::vector<int64_t>& none_axes,
                             const std::vector<int64_t>& shape, const std::vector<Scalar>& values);

/// Like SetValueInferMeta, with values in a tensor of x's dtype.
TensorMeta SetValueWithTensorInferMeta(const TensorMeta& x, const TensorMeta& values,
                                       const IntArray& starts, const IntArray& ends,
                                       const IntArray& steps, const std::vector<int64_t>& axes,
                                       const std::vector<int64_t>& decrease_axes,
                                       const std::vector<int64_t>& none_axes);

/// `dims` in source's dtype: a view of source's storage that begins at byte `offset` and has
/// strides `stride` (row-major if empty). Errors: InvalidArgument if the storage is too small.
TensorMeta SetInferMeta(const TensorMeta& x, const TensorMeta& source,
                        const std::vector<int64_t>& dims, const std::vector<int64_t>& stride,
                        int64_t offset);

/// The elements begin, begin + step, .. of the slice `start:end:step` of an extent, by Python's
/// rules. Shared by shape function and kernel.
struct SteppedBounds {
  int64_t begin;
  int64_t step;
  int64_t count;
};
SteppedBounds stepped_bounds(int64_t start, int64_t end, int64_t step, int64_t extent);

/// The tensor dim of x for each tensor dim of the slice's shape; -1 for a new one. Shared by shape
/// function and kernel.
using SliceDims = InlineVector<int, 2 * kMaxNdim>;
SliceDims slice_dims(int ndim, const std::vector<int64_t>& decrease_axes,
                     const std::vector<int64_t>& none_axes);

}  // namespace phi
