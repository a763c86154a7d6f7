// ConvProblem: the three products of a convolution, whichever operator asks for them. A transposed
// convolution is the gradient of one: its x is what that calls out_grad.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/window/sliding.h"

namespace phi {

struct ConvProblem {
  int64_t n;
  int64_t groups;
  int64_t c;  // of the image
  int64_t m;  // of the result
  bool channels_last;
  int spatial;  // how many spatial dims
  Sliding sliding;

  int64_t group_c() const { return c / groups; }
  int64_t group_m() const { return m / groups; }
  int64_t image_size() const { return c * sliding.pixels(); }
  int64_t result_size() const { return m * sliding.num_positions(); }
  /// Rows of the columns of one group.
  int64_t column_rows() const { return group_c() * sliding.taps(); }
  int64_t filter_size() const { return m * column_rows(); }
  bool is_empty() const { return n == 0 || filter_size() == 0 || result_size() == 0; }
};

/// The problem of an image and a result of these dims under a filter [m, c / groups, ...].
/// `padded_by` is the array whose extents SAME paddings follow: the image's, or for a transposed
/// convolution the result's.
ConvProblem conv_problem(const Dims& image, const Dims& result, const Dims& filter,
                         const Dims& padded_by, const WindowAttributes& attributes,
                         const std::string& data_format);

}  // namespace phi
