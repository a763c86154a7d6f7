// Where the outputs of ops that take parts lie in their input: what an entry's `kernel.lend` names.
//
// Each function takes what the kernel takes, and says at which element of the local input the first
// output begins if the outputs are ranges of it, one behind the other; nothing if they are not, and
// for what the kernel refuses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

std::optional<int64_t> SliceLends(const TensorMeta& input, const std::vector<int64_t>& axes,
                                  const IntArray& starts, const IntArray& ends);
/// Where all strides are 1.
std::optional<int64_t> StridedSliceLends(const TensorMeta& x, const std::vector<int>& axes,
                                         const IntArray& starts, const IntArray& ends,
                                         const IntArray& strides);
std::optional<int64_t> SplitLends(const TensorMeta& x, const Scalar& axis);
std::optional<int64_t> UnbindLends(const TensorMeta& x, int axis);
std::optional<int64_t> IndexSelectStridedLends(const TensorMeta& x, int64_t index, int axis);
std::optional<int64_t> ViewSliceLends(const TensorMeta& input, int64_t begin_idx);

}  // namespace phi
