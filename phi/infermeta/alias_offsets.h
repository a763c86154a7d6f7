// Positions of outputs inside their input, for ops whose outputs are parts of it. An op names its
// function here under `kernel.alias_offset`.
//
// Each function accepts the kernel's arguments. If the outputs are consecutive contiguous ranges of
// the local input, it returns the element at which the first begins. Otherwise, and for arguments
// that the kernel rejects, it returns nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

std::optional<int64_t> SliceAliasOffset(const TensorMeta& input, const std::vector<int64_t>& axes,
                                        const IntArray& starts, const IntArray& ends);
/// Contiguous only if all strides are 1.
std::optional<int64_t> StridedSliceAliasOffset(const TensorMeta& x, const std::vector<int>& axes,
                                               const IntArray& starts, const IntArray& ends,
                                               const IntArray& strides);
std::optional<int64_t> SplitAliasOffset(const TensorMeta& x, const Scalar& axis);
std::optional<int64_t> UnbindAliasOffset(const TensorMeta& x, int axis);
std::optional<int64_t> IndexSelectStridedAliasOffset(const TensorMeta& x, int64_t index, int axis);
std::optional<int64_t> ViewSliceAliasOffset(const TensorMeta& input, int64_t begin_idx);

}  // namespace phi
