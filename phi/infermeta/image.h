// Shapes of unfold and fold of images, and of sampling at given coordinates.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"
#include "phi/infermeta/windowed.h"

namespace phi {

/// The windows of unfold and fold over an image of `extents`. paddings has one entry for all sides,
/// one per spatial dim, or [top, left, bottom, right]. Errors: those of make_windows.
SlidingWindows column_windows(std::span<const int64_t> extents,
                              const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                              const std::vector<int>& paddings, const std::vector<int>& dilations);

/// [n, c * taps, positions] for x [n, c, h, w]. Errors: InvalidArgument for invalid shapes and
/// attributes.
TensorMeta UnfoldInferMeta(const TensorMeta& x, const std::vector<int>& kernel_sizes,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           const std::vector<int>& dilations);
/// [n, c, output_sizes...] for x [n, c * taps, positions]. Errors: those of UnfoldInferMeta.
TensorMeta FoldInferMeta(const TensorMeta& x, const std::vector<int>& output_sizes,
                         const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                         const std::vector<int>& paddings, const std::vector<int>& dilations);

/// [n, c, places...] for x [n, c, spatial...] and grid [n, places..., coordinates] with one
/// coordinate per spatial dim. mode is "bilinear" or "nearest"; padding_mode is "zeros", "border"
/// or "reflection". Errors: InvalidArgument.
TensorMeta GridSampleInferMeta(const TensorMeta& x, const TensorMeta& grid, const std::string& mode,
                               const std::string& padding_mode, bool align_corners);

/// [n, h, w, 2] for matrices [n, 2, 3] and output_shape [n, c, h, w]; [n, d, h, w, 3] for matrices
/// [n, 3, 4] and output_shape [n, c, d, h, w]. Errors: InvalidArgument.
TensorMeta AffineGridInferMeta(const TensorMeta& input, const IntArray& output_shape,
                               bool align_corners);

}  // namespace phi
