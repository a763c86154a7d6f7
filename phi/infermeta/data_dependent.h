// Shape and dtype inference of ops whose output shape depends on data: those extents are
// kUnknownDim until the kernel has run.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// int64 [?, condition's ndim]: a row of coordinates per element that is not zero. Errors:
/// InvalidArgument for a 0-D condition.
TensorMeta NonZeroInferMeta(const TensorMeta& condition);

/// [?] of x's dtype. Errors: InvalidArgument if mask is not bool or does not broadcast with x.
TensorMeta MaskedSelectInferMeta(const TensorMeta& x, const TensorMeta& mask);

/// out: [?], or x's dims with ? on the one axis given. indices and counts [?] and inverse (one per
/// element of x, or per slice along the axis), each of `dtype` and only if asked for.
/// Errors: InvalidArgument for more than one axis or a dtype other than int32 and int64.
std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>,
           std::optional<TensorMeta>>
UniqueInferMeta(const TensorMeta& x, bool return_index, bool return_inverse, bool return_counts,
                const std::vector<int>& axis, DataType dtype);

/// out as of unique. index (one per item) and counts [?], each of `dtype` and only if asked for.
/// Errors: as UniqueInferMeta's, of a dtype only if it is needed.
std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
UniqueConsecutiveInferMeta(const TensorMeta& x, bool return_inverse, bool return_counts,
                           const std::vector<int>& axis, DataType dtype);

}  // namespace phi
