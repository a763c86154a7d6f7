// Shapes of unfold, fold and sampling.
#include "phi/infermeta/image.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {
namespace {

// Reorders [top, left, bottom, right] to [top, bottom, left, right].
std::vector<int> paired_paddings(const std::vector<int>& paddings) {
  PHI_CHECK(paddings.size() == 4,
            errors::InvalidArgument("paddings is [{}], but it must have 4 entries: top, left, "
                                    "bottom, right.",
                                    fmt::join(paddings, ",")));
  return {paddings[0], paddings[2], paddings[1], paddings[3]};
}

}  // namespace

SlidingWindows column_windows(std::span<const int64_t> extents,
                              const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                              const std::vector<int>& paddings, const std::vector<int>& dilations) {
  const std::string algorithm = "EXPLICIT";
  return make_windows(extents, entries(kernel_sizes),
                      {strides, paired_paddings(paddings), algorithm, dilations});
}

TensorMeta UnfoldInferMeta(const TensorMeta& x, const std::vector<int>& kernel_sizes,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           const std::vector<int>& dilations) {
  PHI_CHECK(x.dims.ndim() == 4,
            errors::InvalidArgument("x is {}, but unfold expects [n, c, h, w].", x.to_string()));
  const Dims extents = ImageLayout("NCHW").spatial(x.dims);
  const SlidingWindows windows = column_windows(std::span(extents.begin(), extents.end()),
                                                kernel_sizes, strides, paddings, dilations);
  int64_t channels = x.dims[1];
  int64_t positions = 1;
  for (int d = 0; d < 2; ++d) {
    const Window& window = windows[static_cast<size_t>(d)];
    const int64_t along = window.positions(extents[d]);
    PHI_CHECK(along > 0, errors::InvalidArgument("x is {}, but a window that spans {} elements "
                                                 "does not fit along spatial dim {}; pad x.",
                                                 x.to_string(), window.reach(), d));
    channels *= window.size;
    positions *= along;
  }
  return {{x.dims[0], channels, positions}, x.dtype, x.layout};
}

TensorMeta FoldInferMeta(const TensorMeta& x, const std::vector<int>& output_sizes,
                         const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                         const std::vector<int>& paddings, const std::vector<int>& dilations) {
  const bool positive =
      output_sizes.size() == 2 && std::ranges::all_of(output_sizes, [](int s) { return s > 0; });
  PHI_CHECK(positive, errors::InvalidArgument("output_sizes is [{}], but it must have 2 positive "
                                              "entries.",
                                              fmt::join(output_sizes, ",")));
  PHI_CHECK(x.dims.ndim() == 3,
            errors::InvalidArgument(
                "x is {}, but fold expects [n, channels of all taps, positions].", x.to_string()));
  const auto extents = entries(output_sizes);
  const SlidingWindows windows =
      column_windows(extents, kernel_sizes, strides, paddings, dilations);
  const int64_t taps = extent_times(windows[0].size, windows[1].size);
  const int64_t positions =
      extent_times(windows[0].positions(extents[0]), windows[1].positions(extents[1]));
  PHI_CHECK(x.dims[1] % taps == 0 && x.dims[2] == positions && positions > 0,
            errors::InvalidArgument("x is {}, but an output of [{}] has {} positions, in tensor "
                                    "dim 2, of windows of {} taps, which must divide tensor dim 1.",
                                    x.to_string(), fmt::join(output_sizes, ","), positions, taps));
  return {{x.dims[0], x.dims[1] / taps, extents[0], extents[1]}, x.dtype, x.layout};
}

TensorMeta GridSampleInferMeta(const TensorMeta& x, const TensorMeta& grid, const std::string& mode,
                               const std::string& padding_mode, bool /*align_corners*/) {
  const int ndim = x.dims.ndim();
  const bool fits = (ndim == 4 || ndim == 5) && grid.dims.ndim() == ndim &&
                    grid.dims[0] == x.dims[0] && grid.dims[ndim - 1] == ndim - 2 &&
                    x.dtype == grid.dtype && is_floating(x.dtype);
  PHI_CHECK(fits,
            errors::InvalidArgument(
                "x is {} and grid {}, but x must be [n, c, spatial...] with 2 or 3 spatial dims, "
                "and grid [n, positions..., one coordinate per spatial dim] of the same dtype.",
                x.to_string(), grid.to_string()));
  for (int d = 2; d < ndim; ++d) {
    PHI_CHECK(x.dims[d] > 0, errors::InvalidArgument(
                                 "x is {}, but an extent of 0 cannot be sampled.", x.to_string()));
  }
  PHI_CHECK(mode == "bilinear" || mode == "nearest",
            errors::InvalidArgument("mode is '{}', but it must be bilinear or nearest.", mode));
  PHI_CHECK(padding_mode == "zeros" || padding_mode == "border" || padding_mode == "reflection",
            errors::InvalidArgument(
                "padding_mode is '{}', but it must be zeros, border or reflection.", padding_mode));
  Dims out{x.dims[0], x.dims[1]};
  for (int d = 1; d + 1 < ndim; ++d) out.push_back(grid.dims[d]);
  return {out, x.dtype, x.layout};
}

TensorMeta AffineGridInferMeta(const TensorMeta& input, const IntArray& output_shape,
                               bool /*align_corners*/) {
  const int spatial = output_shape.size() - 2;
  const Dims& m = input.dims;
  const bool fits = (spatial == 2 || spatial == 3) && m.ndim() == 3 && m[1] == spatial &&
                    m[2] == spatial + 1 && m[0] == output_shape[0] && is_floating(input.dtype);
  PHI_CHECK(fits, errors::InvalidArgument("input is {} and output_shape {}, but matrices are "
                                          "floating [n, 2, 3] for [n, c, h, w] or [n, 3, 4] for "
                                          "[n, c, d, h, w].",
                                          input.to_string(), output_shape.to_string()));
  Dims out{m[0]};
  for (int d = 0; d < spatial; ++d) {
    PHI_CHECK(output_shape[2 + d] >= 0,
              errors::InvalidArgument("output_shape is {}, but no extent may be negative.",
                                      output_shape.to_string()));
    out.push_back(output_shape[2 + d]);
  }
  out.push_back(spatial);
  return {out, input.dtype, input.layout};
}

}  // namespace phi
