// ConvProblem: the geometry of a convolution and its two gradients. A transposed convolution is the
// image gradient of a convolution; its x is that convolution's out_grad.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/windowed/sliding.h"

namespace phi {

struct ConvProblem {
  int64_t n;
  int64_t groups;
  int64_t c;  // channels of the image
  int64_t m;  // channels of the result
  bool channels_last;
  int spatial;  // number of spatial dims
  Sliding sliding;

  int64_t group_c() const { return c / groups; }
  int64_t group_m() const { return m / groups; }
  int64_t image_size() const { return c * sliding.pixels(); }
  int64_t result_size() const { return m * sliding.num_positions(); }
  /// The number of rows of one group's columns (im2col).
  int64_t column_rows() const { return group_c() * sliding.taps(); }
  int64_t filter_size() const { return m * column_rows(); }
  bool is_empty() const { return n == 0 || filter_size() == 0 || result_size() == 0; }
};

/// The problem for an image, a result and a filter [m, c / groups, ...]. `padded_by` are the dims
/// whose extents determine SAME padding: the image's, or the result's for a transposed convolution.
ConvProblem conv_problem(const Dims& image, const Dims& result, const Dims& filter,
                         const Dims& padded_by, const WindowAttributes& attributes,
                         const std::string& data_format);

}  // namespace phi
