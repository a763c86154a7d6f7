// Shape and dtype inference of ops whose output shape depends on data. Those extents, written ?
// below, are kUnknownDim until the kernel has run.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// int64 [?, condition's ndim]: one row of coordinates per non-zero element. Errors:
/// InvalidArgument for a 0-D condition.
TensorMeta NonZeroInferMeta(const TensorMeta& condition);

/// [?] of x's dtype. Errors: InvalidArgument if mask is not bool or does not broadcast with x.
TensorMeta MaskedSelectInferMeta(const TensorMeta& x, const TensorMeta& mask);

/// out is [?], or x's dims with ? on `axis` if one is specified. indices and counts are [?];
/// inverse has one element per element of x, or per slice along the axis. They have dtype `dtype`
/// and are present only if requested. Errors: InvalidArgument for more than one axis or a dtype
/// other than int32 and int64.
std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>,
           std::optional<TensorMeta>>
UniqueInferMeta(const TensorMeta& x, bool return_index, bool return_inverse, bool return_counts,
                const std::vector<int>& axis, DataType dtype);

/// (out, index, counts): out as in UniqueInferMeta. index, the inverse, has one element per element
/// or slice of x; counts is [?]. Both have dtype `dtype` and are present only if requested. Errors:
/// those of UniqueInferMeta; the dtype is checked only if an output has it.
std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
UniqueConsecutiveInferMeta(const TensorMeta& x, bool return_inverse, bool return_counts,
                           const std::vector<int>& axis, DataType dtype);

}  // namespace phi
