// Shapes of pooling, and the elements of each pooling window.
#include "phi/infermeta/pool.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "phi/common/errors.h"

namespace phi {
namespace {

// `windows` windows that cover `extent` elements evenly.
PoolRanges even_ranges(int64_t extent, int64_t windows) {
  PHI_CHECK(
      windows > 0,
      errors::InvalidArgument(
          "kernel_size requests {} windows along a spatial dim; adaptive pooling needs 1 or more.",
          windows));
  PoolRanges ranges;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t begin = i * extent / windows;
    const int64_t end = ((i + 1) * extent + windows - 1) / windows;
    ranges.push_back({begin, end, end - begin});
  }
  return ranges;
}

PoolRanges sliding_ranges(int64_t extent, const Window& window, bool ceil_mode) {
  const int64_t positions = window.positions(extent, ceil_mode);
  PHI_CHECK(positions > 0,
            errors::InvalidArgument("a window of {} does not fit into a spatial dim of {} with {} "
                                    "elements of padding.",
                                    window.size, extent, window.pad_begin + window.pad_end));
  PoolRanges ranges;
  for (int64_t i = 0; i < positions; ++i) {
    const int64_t begin = i * window.stride - window.pad_begin;
    // The padded size of a window ends with the padding. Like the reference, this uses the front
    // padding for both ends.
    const int64_t padded_end = std::min(begin + window.size, extent + window.pad_begin);
    const int64_t first = std::max<int64_t>(begin, 0);
    const int64_t end = std::min(begin + window.size, extent);
    ranges.push_back({first, std::max(first, end), padded_end - begin});
  }
  return ranges;
}

// In float, like the reference, because the rounding of a step determines where windows begin.
PoolRanges fractional_along(int64_t extent, int64_t outputs, int64_t size, float u) {
  const bool sized = size > 0;
  PHI_CHECK(outputs >= 1 && size >= 0 && outputs + (sized ? size - 1 : 0) <= extent,
            errors::InvalidArgument(
                "output_size is {} and kernel_size {} along a spatial dim of {} elements, but no "
                "two windows start at one position: pass at most {} outputs.",
                outputs, size, extent, extent - (sized ? size - 1 : 0)));
  const auto steps = static_cast<float>(sized ? std::max<int64_t>(outputs - 1, 1) : outputs);
  const float step = static_cast<float>(extent - size) / steps;
  if (!sized) {
    // A window must not begin after the end of the one before, and the last one must reach the end
    // of the image.
    const int64_t base = extent / outputs;
    const float to_next = static_cast<float>(base + 2) / step - 1.0f;
    const float to_end =
        static_cast<float>(extent + 1 - base) / step - static_cast<float>(outputs - 1);
    u *= std::min(to_next, to_end);
  }
  const auto place_of = [&](int64_t i) {
    return static_cast<int64_t>(std::floor(step * (static_cast<float>(i) + u)));
  };
  // The first window begins at the first element of the image.
  const auto begin_of = [&](int64_t i) { return place_of(i) - place_of(0); };
  PoolRanges ranges;
  for (int64_t i = 0; i < outputs; ++i) {
    const int64_t end = std::min(sized ? begin_of(i) + size : begin_of(i + 1), extent);
    // In the reference, windows of a given size may begin after the image's end and return
    // -1.8e308.
    const int64_t last = sized ? end - 1 : end;
    const int64_t begin = std::clamp<int64_t>(begin_of(i), 0, last);
    ranges.push_back({begin, end, end - begin});
  }
  return ranges;
}

void check_pool_image(const TensorMeta& x, int spatial) {
  PHI_CHECK(
      x.dims.ndim() == spatial + 2 && is_floating(x.dtype),
      errors::InvalidArgument(
          "x is {}, but pooling over {} spatial dims expects a floating tensor of {} tensor dims.",
          x.to_string(), spatial, spatial + 2));
}

TensorMeta pooled(const TensorMeta& x, const ImageLayout& image,
                  const std::vector<PoolRanges>& ranges) {
  std::vector<int64_t> windows;
  for (const PoolRanges& along : ranges) windows.push_back(static_cast<int64_t>(along.size()));
  return {image.dims(x.dims[0], image.channels(x.dims), windows), x.dtype, x.layout};
}

std::vector<PoolRanges> ranges_of(const TensorMeta& x, const ImageLayout& image,
                                  const PoolAttributes& attributes) {
  const Dims extents = image.spatial(x.dims);
  return pool_ranges(std::span(extents.begin(), extents.end()), attributes);
}

void check_pooling_type(const std::string& pooling_type) {
  PHI_CHECK(
      pooling_type == "max" || pooling_type == "avg",
      errors::InvalidArgument("pooling_type is '{}', but it must be max or avg.", pooling_type));
}

std::tuple<TensorMeta, TensorMeta> with_mask(const TensorMeta& x, const TensorMeta& out) {
  const Dims extents = ImageLayout("NCHW").spatial(x.dims);
  PHI_CHECK(
      extents.numel() <= std::numeric_limits<int32_t>::max(),
      errors::InvalidArgument("x is {}, but mask counts up to 2147483647 positions in one image.",
                              x.to_string()));
  return {out, {out.dims, DataType::INT32, x.layout}};
}

std::tuple<TensorMeta, TensorMeta> max_pool_with_index(const TensorMeta& x, int spatial,
                                                       const std::vector<int>& kernel_size,
                                                       const std::vector<int>& strides,
                                                       const std::vector<int>& paddings,
                                                       bool global_pooling, bool adaptive,
                                                       bool ceil_mode) {
  check_pool_image(x, spatial);
  const ImageLayout image("NCHW");
  const auto ranges = ranges_of(
      x, image,
      {entries(kernel_size), strides, paddings, ceil_mode, global_pooling, adaptive, "EXPLICIT"});
  return with_mask(x, pooled(x, image, ranges));
}

std::tuple<TensorMeta, TensorMeta> fractional(const TensorMeta& x, int spatial,
                                              const std::vector<int>& output_size,
                                              const std::vector<int>& kernel_size, float random_u) {
  check_pool_image(x, spatial);
  const ImageLayout image("NCHW");
  const Dims extents = image.spatial(x.dims);
  return with_mask(x, pooled(x, image,
                             fractional_ranges(std::span(extents.begin(), extents.end()),
                                               output_size, kernel_size, random_u)));
}

TensorMeta unpooled(const TensorMeta& x, const TensorMeta& indices, int spatial,
                    const std::vector<int64_t>& output_size, const std::string& data_format) {
  const ImageLayout image(data_format);
  PHI_CHECK(x.dims.ndim() == spatial + 2 && !image.channels_last,
            errors::InvalidArgument("x is {} and data_format '{}', but unpooling over {} spatial "
                                    "dims expects them after batch and channels.",
                                    x.to_string(), data_format, spatial));
  PHI_CHECK(indices.dims == x.dims &&
                (indices.dtype == DataType::INT32 || indices.dtype == DataType::INT64),
            errors::InvalidArgument(
                "indices is {}, but x {} requires one int32 or int64 for each element.",
                indices.to_string(), x.to_string()));
  const bool fits = output_size.size() == static_cast<size_t>(spatial) &&
                    std::ranges::all_of(output_size, [](int64_t s) { return s > 0; });
  PHI_CHECK(fits, errors::InvalidArgument("output_size is [{}], but it must have {} positive "
                                          "entries.",
                                          fmt::join(output_size, ","), spatial));
  return {image.dims(x.dims[0], x.dims[1], output_size), x.dtype, x.layout};
}

}  // namespace

std::vector<PoolRanges> pool_ranges(std::span<const int64_t> extents,
                                    const PoolAttributes& attributes) {
  const std::vector<int64_t>& kernel = attributes.kernel;
  std::vector<PoolRanges> ranges;
  if (attributes.global_pooling) {
    for (int64_t extent : extents) ranges.push_back({{0, extent, extent}});
    return ranges;
  }
  PHI_CHECK(kernel.size() == extents.size(),
            errors::InvalidArgument("kernel_size is [{}], but there are {} spatial dims.",
                                    fmt::join(kernel, ","), extents.size()));
  if (attributes.adaptive) {
    for (size_t d = 0; d < extents.size(); ++d) {
      ranges.push_back(even_ranges(extents[d], kernel[d]));
    }
    return ranges;
  }
  const std::vector<int> no_dilation(extents.size(), 1);
  const SlidingWindows windows = make_windows(
      extents, kernel,
      {attributes.strides, attributes.paddings, attributes.padding_algorithm, no_dilation});
  for (size_t d = 0; d < extents.size(); ++d) {
    ranges.push_back(sliding_ranges(extents[d], windows[d], attributes.ceil_mode));
  }
  return ranges;
}

std::vector<PoolRanges> fractional_ranges(std::span<const int64_t> extents,
                                          const std::vector<int>& outputs,
                                          const std::vector<int>& kernel, float u) {
  PHI_CHECK(
      outputs.size() == extents.size() && kernel.size() == extents.size(),
      errors::InvalidArgument("output_size is [{}] and kernel_size [{}], but both must have "
                              "one entry for each of the {} spatial dims.",
                              fmt::join(outputs, ","), fmt::join(kernel, ","), extents.size()));
  PHI_CHECK(u > 0.0f && u < 1.0f,
            errors::InvalidArgument("random_u is {}, but it must be between 0 and 1; draw it on "
                                    "one rank to have random windows.",
                                    u));
  std::vector<PoolRanges> ranges;
  for (size_t d = 0; d < extents.size(); ++d) {
    ranges.push_back(fractional_along(extents[d], outputs[d], kernel[d], u));
  }
  return ranges;
}

TensorMeta PoolInferMeta(const TensorMeta& x, const IntArray& kernel_size,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         bool ceil_mode, const std::string& data_format,
                         const std::string& pooling_type, bool global_pooling, bool adaptive,
                         const std::string& padding_algorithm) {
  check_pool_image(x, 2);
  check_pooling_type(pooling_type);
  const ImageLayout image(data_format);
  return pooled(x, image,
                ranges_of(x, image,
                          {entries(kernel_size), strides, paddings, ceil_mode, global_pooling,
                           adaptive, padding_algorithm}));
}

TensorMeta Pool3dInferMeta(const TensorMeta& x, const std::vector<int>& kernel_size,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           bool ceil_mode, const std::string& data_format,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm) {
  check_pool_image(x, 3);
  check_pooling_type(pooling_type);
  const ImageLayout image(data_format);
  return pooled(x, image,
                ranges_of(x, image,
                          {entries(kernel_size), strides, paddings, ceil_mode, global_pooling,
                           adaptive, padding_algorithm}));
}

TensorMeta LpPoolInferMeta(const TensorMeta& x, const IntArray& kernel_size,
                           const std::vector<int>& strides, const std::vector<int>& paddings,
                           bool ceil_mode, bool /*exclusive*/, const std::string& data_format,
                           const std::string& /*pooling_type*/, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, float norm_type) {
  PHI_CHECK(norm_type != 0.0f && std::isfinite(norm_type),
            errors::InvalidArgument("norm_type is {}, but it must be a finite number other than "
                                    "0; the norm at infinity is max pooling.",
                                    norm_type));
  return PoolInferMeta(x, kernel_size, strides, paddings, ceil_mode, data_format, "avg",
                       global_pooling, adaptive, padding_algorithm);
}

std::tuple<TensorMeta, TensorMeta> MaxPool2dWithIndexInferMeta(
    const TensorMeta& x, const std::vector<int>& kernel_size, const std::vector<int>& strides,
    const std::vector<int>& paddings, bool global_pooling, bool adaptive, bool ceil_mode) {
  return max_pool_with_index(x, 2, kernel_size, strides, paddings, global_pooling, adaptive,
                             ceil_mode);
}

std::tuple<TensorMeta, TensorMeta> MaxPool3dWithIndexInferMeta(
    const TensorMeta& x, const std::vector<int>& kernel_size, const std::vector<int>& strides,
    const std::vector<int>& paddings, bool global_pooling, bool adaptive, bool ceil_mode) {
  return max_pool_with_index(x, 3, kernel_size, strides, paddings, global_pooling, adaptive,
                             ceil_mode);
}

std::tuple<TensorMeta, TensorMeta> FractionalMaxPool2dInferMeta(const TensorMeta& x,
                                                                const std::vector<int>& output_size,
                                                                const std::vector<int>& kernel_size,
                                                                float random_u,
                                                                bool /*return_mask*/) {
  return fractional(x, 2, output_size, kernel_size, random_u);
}

std::tuple<TensorMeta, TensorMeta> FractionalMaxPool3dInferMeta(const TensorMeta& x,
                                                                const std::vector<int>& output_size,
                                                                const std::vector<int>& kernel_size,
                                                                float random_u,
                                                                bool /*return_mask*/) {
  return fractional(x, 3, output_size, kernel_size, random_u);
}

TensorMeta UnpoolInferMeta(const TensorMeta& x, const TensorMeta& indices,
                           const std::vector<int>& /*ksize*/, const std::vector<int>& /*strides*/,
                           const std::vector<int>& /*padding*/, const IntArray& output_size,
                           const std::string& data_format) {
  return unpooled(x, indices, 2, entries(output_size), data_format);
}

TensorMeta Unpool3dInferMeta(const TensorMeta& x, const TensorMeta& indices,
                             const std::vector<int>& /*ksize*/, const std::vector<int>& /*strides*/,
                             const std::vector<int>& /*padding*/,
                             const std::vector<int>& output_size, const std::string& data_format) {
  return unpooled(x, indices, 3, entries(output_size), data_format);
}

}  // namespace phi
