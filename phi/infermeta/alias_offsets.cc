// Positions of contiguous outputs inside their input, computed from attributes.
#include "phi/infermeta/alias_offsets.h"

#include <algorithm>

#include "phi/core/box_copy.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/shape.h"

namespace phi {
namespace {

// A template because the type of axes differs between ops.
template <typename Axes>
std::optional<int64_t> sliced(const TensorMeta& x, const Axes& axes, const IntArray& starts,
                              const IntArray& ends) {
  const Box whole = Box::whole(x.dims);
  Box part = whole;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = normalise_axis(axes[i], x.dims.ndim(), x.dims, "axes");
    const auto at = static_cast<int>(i);
    const auto [begin, end] = slice_bounds(starts[at], ends[at], x.dims[d]);
    part.offset[d] = begin;
    part.size[d] = end - begin;
  }
  return contiguous_offset(whole, part);
}

// Parts along an axis are consecutive in memory if all tensor dims before it have size 1.
std::optional<int64_t> parts_along(const TensorMeta& x, int64_t axis) {
  const int d = normalise_axis(axis, x.dims.ndim(), x.dims);
  if (x.dims.numel(0, d) != 1) return std::nullopt;
  return 0;
}

}  // namespace

std::optional<int64_t> SliceAliasOffset(const TensorMeta& input, const std::vector<int64_t>& axes,
                                        const IntArray& starts, const IntArray& ends) {
  return sliced(input, axes, starts, ends);
}

std::optional<int64_t> StridedSliceAliasOffset(const TensorMeta& x, const std::vector<int>& axes,
                                               const IntArray& starts, const IntArray& ends,
                                               const IntArray& strides) {
  const bool steps = std::ranges::any_of(strides.values(), [](int64_t step) { return step != 1; });
  return steps ? std::nullopt : sliced(x, axes, starts, ends);
}

std::optional<int64_t> SplitAliasOffset(const TensorMeta& x, const Scalar& axis) {
  return parts_along(x, axis.to<int64_t>());
}

std::optional<int64_t> UnbindAliasOffset(const TensorMeta& x, int axis) {
  return parts_along(x, axis);
}

std::optional<int64_t> IndexSelectStridedAliasOffset(const TensorMeta& x, int64_t index, int axis) {
  const auto first = parts_along(x, axis);
  if (!first) return std::nullopt;
  const int d = normalise_axis(axis, x.dims.ndim(), x.dims);
  const int64_t at = index < 0 ? index + x.dims[d] : index;
  if (at < 0 || at >= x.dims[d]) return std::nullopt;
  return at * x.dims.numel(d + 1, x.dims.ndim());
}

std::optional<int64_t> ViewSliceAliasOffset(const TensorMeta& input, int64_t begin_idx) {
  return begin_idx * input.dims.numel(1, input.dims.ndim());
}

}  // namespace phi
