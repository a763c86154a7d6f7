// Shapes of ops that read or write elements at positions that a tensor holds. What the positions
// are is looked at by the kernels. An unknown extent fits any other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// index [..., k] names elements of the first k tensor dims of x: [..., x's other extents].
TensorMeta GatherNdInferMeta(const TensorMeta& x, const TensorMeta& index);

/// Slices of x along `axis`, one for each of index's elements, [n] or [n, 1].
TensorMeta IndexSelectInferMeta(const TensorMeta& x, const TensorMeta& index, int axis);

/// x without tensor dim `axis`. Errors: OutOfRange if `index`, which may count from the end, is not
/// one of its extent.
TensorMeta IndexSelectStridedInferMeta(const TensorMeta& x, int64_t index, int axis);

/// [n, m] of x's dtype: of each row of x the elements that the row of index [n, m] names.
TensorMeta IndexSampleInferMeta(const TensorMeta& x, const TensorMeta& index);

/// As indices, of arr's dtype. Along other tensor dims than `axis` indices may be shorter than arr.
TensorMeta TakeAlongAxisInferMeta(const TensorMeta& arr, const TensorMeta& indices, int axis);

/// As arr. values has an element for each of indices, or more.
TensorMeta PutAlongAxisInferMeta(const TensorMeta& arr, const TensorMeta& indices,
                                 const TensorMeta& values, int axis, const std::string& reduce);

/// As x. index is [n], or [n, 1] (or 0-D), and updates has n slices of x's (or is one).
TensorMeta ScatterInferMeta(const TensorMeta& x, const TensorMeta& index,
                            const TensorMeta& updates);

/// As x. updates is of the shape that gather_nd would take from x.
TensorMeta ScatterNdAddInferMeta(const TensorMeta& x, const TensorMeta& index,
                                 const TensorMeta& updates);

/// As x. add_value has x's extents but along `axis`, where it has as many as index [n].
TensorMeta IndexAddInferMeta(const TensorMeta& x, const TensorMeta& index,
                             const TensorMeta& add_value, int axis);

/// As x. An integer index names elements of one tensor dim of x, a bool one of as many as it has
/// itself, whose extents are those; they follow each other from x's first dim on and are broadcast
/// together, a bool one as [n] for the n that are true. value is broadcast to their shape and x's
/// other extents.
TensorMeta IndexPutInferMeta(const TensorMeta& x, std::span<const TensorMeta> indices,
                             const TensorMeta& value);

/// [*, D] for weight [V, D] and ids x [*]. Errors: InvalidArgument also for a negative start_index.
TensorMeta CEmbeddingInferMeta(const TensorMeta& weight, const TensorMeta& x, int64_t start_index);

}  // namespace phi
