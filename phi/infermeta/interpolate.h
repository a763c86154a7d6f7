// Shapes of interpolation, and the sizes that its attributes determine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/core/meta.h"
#include "phi/infermeta/windowed.h"

namespace phi {

/// Resizes x, which is [n, c, spatial...] if data_format is "NCHW" (for any number of spatial dims)
/// and [n, spatial..., c] otherwise.
///
/// The size comes from the first of these that is present:
/// - size_tensor: one tensor of one element per spatial dim;
/// - out_size: one tensor of all sizes;
/// - scale_tensor;
/// - scale: one factor for all spatial dims, or one per dim;
/// - out_d, out_h and out_w.
///
/// Sizes from tensors are unknown until the kernel has run. interp_method is "linear" (3 tensor
/// dims), "bilinear" or "bicubic" (4), "trilinear" (5) or "nearest" (3 to 5). Errors:
/// InvalidArgument for another method, incompatible shapes, scales and sizes that are not positive,
/// and empty images.
TensorMeta InterpInferMeta(const TensorMeta& x, const TensorMeta* out_size,
                           std::span<const TensorMeta> size_tensor, const TensorMeta* scale_tensor,
                           const std::string& data_format, int out_d, int out_h, int out_w,
                           const std::vector<float>& scale, const std::string& interp_method);
TensorMeta PlaneInterpInferMeta(const TensorMeta& x, const TensorMeta* out_size,
                                std::span<const TensorMeta> size_tensor,
                                const TensorMeta* scale_tensor, const std::string& data_format,
                                int out_d, int out_h, int out_w, const std::vector<double>& scale,
                                const std::string& interp_method);

/// One scale per spatial dim. Errors: InvalidArgument for another number of scales, or one that is
/// not positive.
std::vector<double> spatial_scales(std::vector<double> scales, int spatial);

/// extent * scale, rounded down. Errors: InvalidArgument if that is less than 1.
int64_t scaled_extent(int64_t extent, double scale);

}  // namespace phi
