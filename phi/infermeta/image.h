// Shapes of ops that lay images out as windows and back, and that sample them at given places.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"
#include "phi/infermeta/window.h"

namespace phi {

/// The windows of unfold and fold over an image of these extents. paddings: one for all, one for
/// each spatial dim, or top, left, bottom, right. Errors: those of make_windows.
Windows column_windows(std::span<const int64_t> extents, const std::vector<int>& kernel_sizes,
                       const std::vector<int>& strides, const std::vector<int>& paddings,
                       const std::vector<int>& dilations);

/// x [n, c, h, w] -> [n, c * taps, positions]. Errors: InvalidArgument for shapes and attributes
/// that do not fit.
TensorMeta UnfoldInferMeta(const TensorMeta& x, const std::vector<int>& kernel_sizes,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           const std::vector<int>& dilations);
/// x [n, c * taps, positions] -> [n, c, output_sizes...]. Errors: likewise.
TensorMeta FoldInferMeta(const TensorMeta& x, const std::vector<int>& output_sizes,
                         const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                         const std::vector<int>& paddings, const std::vector<int>& dilations);

/// x [n, c, spatial...] at the places in grid [n, places..., as many coordinates] -> [n, c,
/// places...]. mode is "bilinear" or "nearest", padding_mode "zeros", "border" or "reflection".
/// Errors: InvalidArgument.
TensorMeta GridSampleInferMeta(const TensorMeta& x, const TensorMeta& grid, const std::string& mode,
                               const std::string& padding_mode, bool align_corners);

/// Matrices [n, 2, 3] (or [n, 3, 4]) for images of output_shape [n, c, h, w] ([n, c, d, h, w]) ->
/// [n, h, w, 2] ([n, d, h, w, 3]). Errors: InvalidArgument.
TensorMeta AffineGridInferMeta(const TensorMeta& input, const IntArray& output_shape,
                               bool align_corners);

}  // namespace phi
