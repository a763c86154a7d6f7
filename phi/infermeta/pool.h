// Shapes of pooling and its inverse, and the elements of each pooling window. Shared by shape
// functions and kernels.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"
#include "phi/infermeta/windowed.h"

namespace phi {

/// A window along one spatial dim: the elements [begin, end). `padded` is its size including
/// padding.
struct PoolRange {
  int64_t begin;
  int64_t end;
  int64_t padded;
};
using PoolRanges = std::vector<PoolRange>;

/// The arrangement of windows on an image: windows of size `kernel`; one for the whole image
/// (`global_pooling`); or `kernel` windows that cover the image evenly (`adaptive`).
struct PoolAttributes {
  std::vector<int64_t> kernel;
  const std::vector<int>& strides;
  const std::vector<int>& paddings;
  bool ceil_mode;
  bool global_pooling;
  bool adaptive;
  const std::string& padding_algorithm;
};

/// The windows along each spatial dim of an image of `extents`. Errors: those of make_windows;
/// InvalidArgument if no window fits.
std::vector<PoolRanges> pool_ranges(std::span<const int64_t> extents,
                                    const PoolAttributes& attributes);

/// The windows of fractional pooling (B. Graham, Fractional Max-Pooling, 2014): `outputs` of them
/// along each spatial dim, which begin at a fractional stride. `u` in (0, 1) is the offset of the
/// first one. Each ends where the next begins, or has the size in `kernel` if that is not 0.
std::vector<PoolRanges> fractional_ranges(std::span<const int64_t> extents,
                                          const std::vector<int>& outputs,
                                          const std::vector<int>& kernel, float u);

/// x [n, c, spatial...] or channels last, with windows in place of the spatial dims. pooling_type
/// is "max" or "avg". Errors: InvalidArgument for incompatible shapes and attributes.
TensorMeta PoolInferMeta(const TensorMeta& x, const IntArray& kernel_size,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         bool ceil_mode, const std::string& data_format,
                         const std::string& pooling_type, bool global_pooling, bool adaptive,
                         const std::string& padding_algorithm);
TensorMeta Pool3dInferMeta(const TensorMeta& x, const std::vector<int>& kernel_size,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           bool ceil_mode, const std::string& data_format,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm);
/// (sum x^norm_type)^(1 / norm_type) of each window. pooling_type is ignored.
TensorMeta LpPoolInferMeta(const TensorMeta& x, const IntArray& kernel_size,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           bool ceil_mode, bool exclusive, const std::string& data_format,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, float norm_type);

/// (out, mask) for x [n, c, spatial...] with `spatial` spatial dims. mask, int32, is the position
/// of each maximum in the flattened spatial dims of its image.
std::tuple<TensorMeta, TensorMeta> MaxPool2dWithIndexInferMeta(
    const TensorMeta& x, const std::vector<int>& kernel_size, const std::vector<int>& strides,
    const std::vector<int>& paddings, bool global_pooling, bool adaptive, bool ceil_mode);
std::tuple<TensorMeta, TensorMeta> MaxPool3dWithIndexInferMeta(
    const TensorMeta& x, const std::vector<int>& kernel_size, const std::vector<int>& strides,
    const std::vector<int>& paddings, bool global_pooling, bool adaptive, bool ceil_mode);
/// Errors: also InvalidArgument for output sizes above the image's and random_u outside (0, 1).
std::tuple<TensorMeta, TensorMeta> FractionalMaxPool2dInferMeta(const TensorMeta& x,
                                                                const std::vector<int>& output_size,
                                                                const std::vector<int>& kernel_size,
                                                                float random_u, bool return_mask);
std::tuple<TensorMeta, TensorMeta> FractionalMaxPool3dInferMeta(const TensorMeta& x,
                                                                const std::vector<int>& output_size,
                                                                const std::vector<int>& kernel_size,
                                                                float random_u, bool return_mask);

/// [n, c, output_size...] for x and indices (int32 or int64) [n, c, spatial...]. ksize, strides and
/// padding are those of the pooling.
TensorMeta UnpoolInferMeta(const TensorMeta& x, const TensorMeta& indices,
                           const std::vector<int>& ksize, const std::vector<int>& strides,
                           const std::vector<int>& padding, const IntArray& output_size,
                           const std::string& data_format);
TensorMeta Unpool3dInferMeta(const TensorMeta& x, const TensorMeta& indices,
                             const std::vector<int>& ksize, const std::vector<int>& strides,
                             const std::vector<int>& padding, const std::vector<int>& output_size,
                             const std::string& data_format);

}  // namespace phi
