// Shapes of ops that read or write elements at positions in an index tensor. Kernels check the
// values of positions. An unknown extent is compatible with any other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// [..., x's other extents] for index [..., k], which selects along the first k tensor dims of x.
TensorMeta GatherNdInferMeta(const TensorMeta& x, const TensorMeta& index);

/// x with one slice along `axis` per element of index, which is [n] or [n, 1].
TensorMeta IndexSelectInferMeta(const TensorMeta& x, const TensorMeta& index, int axis);

/// x without tensor dim `axis`. Errors: OutOfRange if `index` is outside the extent; negative ones
/// count from the end.
TensorMeta IndexSelectStridedInferMeta(const TensorMeta& x, int64_t index, int axis);

/// [n, m] of x's dtype: row i holds the elements of x's row i at the columns index[i].
TensorMeta IndexSampleInferMeta(const TensorMeta& x, const TensorMeta& index);

/// The shape of indices with arr's dtype. Along tensor dims other than `axis`, indices may be
/// shorter than arr.
TensorMeta TakeAlongAxisInferMeta(const TensorMeta& arr, const TensorMeta& indices, int axis);

/// Returns arr's meta. values has at least the extents of indices.
TensorMeta PutAlongAxisInferMeta(const TensorMeta& arr, const TensorMeta& indices,
                                 const TensorMeta& values, int axis, const std::string& reduce);

/// Returns x's meta. index is [n], [n, 1] or 0-D. updates has n slices of x, or is one slice.
TensorMeta ScatterInferMeta(const TensorMeta& x, const TensorMeta& index,
                            const TensorMeta& updates);

/// Returns x's meta. updates has the shape of gather_nd(x, index).
TensorMeta ScatterNdAddInferMeta(const TensorMeta& x, const TensorMeta& index,
                                 const TensorMeta& updates);

/// Returns x's meta. add_value has x's extents, except for the n of index [n] along `axis`.
TensorMeta IndexAddInferMeta(const TensorMeta& x, const TensorMeta& index,
                             const TensorMeta& add_value, int axis);

/// Returns x's meta. Indices apply to the tensor dims of x from the first on. An integer index
/// selects along one tensor dim; a bool index covers as many dims as it has and must have their
/// extents. Indices are broadcast together, a bool index as [n] for its n true elements. value
/// broadcasts to their shape followed by x's other extents.
TensorMeta IndexPutInferMeta(const TensorMeta& x, std::span<const TensorMeta> indices,
                             const TensorMeta& value);

/// [*, D] for weight [V, D] and ids x [*]. Errors: also InvalidArgument for a negative start_index.
TensorMeta CEmbeddingInferMeta(const TensorMeta& weight, const TensorMeta& x, int64_t start_index);

}  // namespace phi
