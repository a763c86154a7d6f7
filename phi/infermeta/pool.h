// Shapes of pooling and its inverse, and which elements of an image each window takes: for shape
// functions and kernels alike.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"
#include "phi/infermeta/window.h"

namespace phi {

/// Elements [begin, end) of a spatial dim. `padded` counts those that lie in padding too.
struct PoolRange {
  int64_t begin;
  int64_t end;
  int64_t padded;
};
using PoolRanges = std::vector<PoolRange>;

/// How windows lie on an image: plain ones (`kernel` is their size), one for the whole image, or as
/// many as `kernel` says, which cover the image evenly.
struct PoolAttributes {
  std::vector<int64_t> kernel;
  const std::vector<int>& strides;
  const std::vector<int>& paddings;
  bool ceil_mode;
  bool global_pooling;
  bool adaptive;
  const std::string& padding_algorithm;
};

/// What each window of each spatial dim takes of an image of these extents. Errors: those of
/// make_windows, and InvalidArgument for windows that fit nowhere.
std::vector<PoolRanges> pool_ranges(std::span<const int64_t> extents,
                                    const PoolAttributes& attributes);

/// The windows of fractional pooling: `outputs` of them along each spatial dim begin a fractional
/// step apart, where `u` in (0, 1) says how far in the first one does; each ends where the next
/// begins, or has the size in `kernel` where that is not 0 (B. Graham, Fractional Max-Pooling,
/// 2014).
std::vector<PoolRanges> fractional_ranges(std::span<const int64_t> extents,
                                          const std::vector<int>& outputs,
                                          const std::vector<int>& kernel, float u);

/// x [n, c, spatial...] or channels last -> the windows in place of the spatial dims. pooling_type
/// is "max" or "avg". Errors: InvalidArgument for shapes and attributes that do not fit.
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
/// (sum x^norm_type)^(1 / norm_type) of each window, whatever pooling_type says.
TensorMeta LpPoolInferMeta(const TensorMeta& x, const IntArray& kernel_size,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           bool ceil_mode, bool exclusive, const std::string& data_format,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, float norm_type);

/// out and mask (int32: the place of each maximum in its image's flattened spatial dims) for x of
/// `spatial` spatial dims behind [n, c].
std::tuple<TensorMeta, TensorMeta> MaxPool2dWithIndexInferMeta(
    const TensorMeta& x, const std::vector<int>& kernel_size, const std::vector<int>& strides,
    const std::vector<int>& paddings, bool global_pooling, bool adaptive, bool ceil_mode);
std::tuple<TensorMeta, TensorMeta> MaxPool3dWithIndexInferMeta(
    const TensorMeta& x, const std::vector<int>& kernel_size, const std::vector<int>& strides,
    const std::vector<int>& paddings, bool global_pooling, bool adaptive, bool ceil_mode);
/// Errors: InvalidArgument also for output sizes above the image's and random_u outside (0, 1).
std::tuple<TensorMeta, TensorMeta> FractionalMaxPool2dInferMeta(const TensorMeta& x,
                                                                const std::vector<int>& output_size,
                                                                const std::vector<int>& kernel_size,
                                                                float random_u, bool return_mask);
std::tuple<TensorMeta, TensorMeta> FractionalMaxPool3dInferMeta(const TensorMeta& x,
                                                                const std::vector<int>& output_size,
                                                                const std::vector<int>& kernel_size,
                                                                float random_u, bool return_mask);

/// x and indices (int32 or int64) [n, c, spatial...] -> [n, c, output_size...].
/// ksize, strides and padding are those of the pooling.
TensorMeta UnpoolInferMeta(const TensorMeta& x, const TensorMeta& indices,
                           const std::vector<int>& ksize, const std::vector<int>& strides,
                           const std::vector<int>& padding, const IntArray& output_size,
                           const std::string& data_format);
TensorMeta Unpool3dInferMeta(const TensorMeta& x, const TensorMeta& indices,
                             const std::vector<int>& ksize, const std::vector<int>& strides,
                             const std::vector<int>& padding, const std::vector<int>& output_size,
                             const std::string& data_format);

}  // namespace phi
