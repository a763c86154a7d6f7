// Shapes of interpolation, and the sizes that its attributes ask for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/core/meta.h"
#include "phi/infermeta/window.h"

namespace phi {

/// x [n, c, spatial...] under data_format "NCHW", whatever the number of spatial dims, or
/// [n, spatial..., c] under any other, resized to what size_tensor (a tensor of one element for
/// each spatial dim), out_size (one of all), scale_tensor, scale (one for all or one for each
/// spatial dim) or out_d, out_h and out_w say, the first of these that is there. Sizes that tensors
/// give are not known before the kernel has run. interp_method is "linear" (of 3 tensor dims),
/// "bilinear", "bicubic" (4), "trilinear" (5) or "nearest" (3 to 5).
/// Errors: InvalidArgument for another method, shapes that do not fit, scales and sizes that are
/// not positive, and empty images.
TensorMeta InterpInferMeta(const TensorMeta& x, const TensorMeta* out_size,
                           std::span<const TensorMeta> size_tensor, const TensorMeta* scale_tensor,
                           const std::string& data_format, int out_d, int out_h, int out_w,
                           const std::vector<float>& scale, const std::string& interp_method);
TensorMeta PlaneInterpInferMeta(const TensorMeta& x, const TensorMeta* out_size,
                                std::span<const TensorMeta> size_tensor,
                                const TensorMeta* scale_tensor, const std::string& data_format,
                                int out_d, int out_h, int out_w, const std::vector<double>& scale,
                                const std::string& interp_method);

/// One scale for each of `spatial` dims. Errors: InvalidArgument for another number of them, and
/// for one that is not positive.
std::vector<double> spatial_scales(std::vector<double> scales, int spatial);

/// The extent that a scale makes of `extent`, without its fraction. Errors: InvalidArgument if that
/// is less than 1.
int64_t scaled_extent(int64_t extent, double scale);

}  // namespace phi
