// Shapes of convolutions.
#include "phi/infermeta/conv.h"

#include <algorithm>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {
namespace {

// The filter's spatial extents.
std::span<const int64_t> taps(const TensorMeta& filter) {
  return std::span(filter.dims.begin(), static_cast<size_t>(filter.dims.ndim())).subspan(2);
}

void check_filter_pair(const TensorMeta& x, const TensorMeta& filter, int groups) {
  const int ndim = x.dims.ndim();
  PHI_CHECK((ndim == 4 || ndim == 5) && filter.dims.ndim() == ndim,
            errors::InvalidArgument("the image is {} and the filter {}, but both must have 4 "
                                    "tensor dims, or both 5.",
                                    x.to_string(), filter.to_string()));
  PHI_CHECK(x.dtype == filter.dtype && is_floating(x.dtype),
            errors::InvalidArgument("the image is {} and the filter {}, but they must have one "
                                    "floating dtype; cast one.",
                                    x.to_string(), filter.to_string()));
  PHI_CHECK(groups >= 1, errors::InvalidArgument("groups is {}, but it must be positive.", groups));
}

void check_groups(const TensorMeta& x, int64_t channels, const TensorMeta& filter, int64_t taken,
                  int groups) {
  const bool fits = channels == taken && channels % groups == 0 && filter.dims[0] % groups == 0;
  PHI_CHECK(fits,
            errors::InvalidArgument("the image {} has {} channels and the filter {} with groups={} "
                                    "expects {}; the channels of each group must match.",
                                    x.to_string(), channels, filter.to_string(), groups, taken));
}

void check_positions(const TensorMeta& x, const TensorMeta& filter, const Dims& out) {
  for (int64_t extent : out) {
    PHI_CHECK(extent > 0, errors::InvalidArgument(
                              "the image {} yields an output of {} with the windows of the filter "
                              "{}; pad the image, or use smaller strides or dilations.",
                              x.to_string(), out.to_string(), filter.to_string()));
  }
}

// The extent of a transposed convolution's output. It is in the range of extents whose convolution
// gives `in`.
int64_t grown_extent(int64_t in, const Window& window, int64_t more, int64_t wanted) {
  const int64_t least =
      (in - 1) * window.stride - window.pad_begin - window.pad_end + window.reach();
  PHI_CHECK(more >= 0 && more < std::max(window.stride, window.dilation),
            errors::InvalidArgument("output_padding is {} along a spatial dim, but it must be "
                                    "below the larger of stride {} and dilation {}.",
                                    more, window.stride, window.dilation));
  if (wanted < 0) return least + more;
  PHI_CHECK(wanted >= least && wanted < least + window.stride,
            errors::InvalidArgument("output_size is {} along a spatial dim, but an input extent of "
                                    "{} with stride {} allows {} to {}.",
                                    wanted, in, window.stride, least, least + window.stride - 1));
  return wanted;
}

}  // namespace

TensorMeta ConvInferMeta(const TensorMeta& input, const TensorMeta& filter,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         const std::string& padding_algorithm, const std::vector<int>& dilations,
                         int groups, const std::string& data_format) {
  check_filter_pair(input, filter, groups);
  const ImageLayout image(data_format);
  check_groups(input, image.channels(input.dims), filter, extent_times(filter.dims[1], groups),
               groups);
  const Dims extents = image.spatial(input.dims);
  const SlidingWindows windows =
      make_windows(std::span(extents.begin(), extents.end()), taps(filter),
                   {strides, paddings, padding_algorithm, dilations});
  Dims out = extents;
  for (int d = 0; d < out.ndim(); ++d) out[d] = windows[static_cast<size_t>(d)].positions(out[d]);
  check_positions(input, filter, out);
  return {image.dims(input.dims[0], filter.dims[0], std::span(out.begin(), out.end())), input.dtype,
          input.layout};
}

TensorMeta ConvTransposeInferMeta(const TensorMeta& x, const TensorMeta& filter,
                                  const std::vector<int>& strides, const std::vector<int>& paddings,
                                  const std::vector<int>& output_padding,
                                  const IntArray& output_size, const std::string& padding_algorithm,
                                  int groups, const std::vector<int>& dilations,
                                  const std::string& data_format) {
  check_filter_pair(x, filter, groups);
  const ImageLayout image(data_format);
  check_groups(x, image.channels(x.dims), filter, filter.dims[0], groups);
  const Dims extents = image.spatial(x.dims);
  const auto spatial = static_cast<size_t>(extents.ndim());
  const auto fits = [&](size_t given) { return given == 0 || given == spatial; };
  PHI_CHECK(fits(output_padding.size()) && fits(static_cast<size_t>(output_size.size())),
            errors::InvalidArgument("output_padding has {} entries and output_size {}, but each "
                                    "must have one for each of the {} spatial dims, or none.",
                                    output_padding.size(), output_size.size(), spatial));
  const SlidingWindows windows =
      make_windows(std::span(extents.begin(), extents.end()), taps(filter),
                   {strides, paddings, padding_algorithm, dilations});
  Dims out = extents;
  for (size_t d = 0; d < spatial; ++d) {
    const auto at = static_cast<int>(d);
    out[at] = grown_extent(extents[at], windows[d], output_padding.empty() ? 0 : output_padding[d],
                           output_size.empty() ? -1 : output_size[at]);
  }
  check_positions(x, filter, out);
  return {image.dims(x.dims[0], extent_times(filter.dims[1], groups),
                     std::span(out.begin(), out.end())),
          x.dtype, x.layout};
}

TensorMeta Conv3dTransposeInferMeta(
    const TensorMeta& x, const TensorMeta& filter, const std::vector<int>& strides,
    const std::vector<int>& paddings, const std::vector<int>& output_padding,
    const std::vector<int>& output_size, const std::string& padding_algorithm, int groups,
    const std::vector<int>& dilations, const std::string& data_format) {
  return ConvTransposeInferMeta(x, filter, strides, paddings, output_padding, entries(output_size),
                                padding_algorithm, groups, dilations, data_format);
}

TensorMeta DeformableConvInferMeta(const TensorMeta& x, const TensorMeta& offset,
                                   const TensorMeta& filter, const TensorMeta* mask,
                                   const std::vector<int>& strides,
                                   const std::vector<int>& paddings,
                                   const std::vector<int>& dilations, int deformable_groups,
                                   int groups, int im2col_step) {
  PHI_CHECK(
      x.dims.ndim() == 4,
      errors::InvalidArgument("x is {}, but deformable_conv expects [n, c, h, w].", x.to_string()));
  TensorMeta out =
      ConvInferMeta(x, filter, strides, paddings, "EXPLICIT", dilations, groups, "NCHW");
  PHI_CHECK(deformable_groups >= 1 && x.dims[1] % deformable_groups == 0 && im2col_step >= 1,
            errors::InvalidArgument("deformable_groups is {} and im2col_step {}, but both must be "
                                    "positive, and the first must divide x's {} channels.",
                                    deformable_groups, im2col_step, x.dims[1]));
  PHI_CHECK(filter.dims[0] % deformable_groups == 0,
            errors::InvalidArgument("deformable_groups is {}, but it must divide the {} output "
                                    "channels of filter {}.",
                                    deformable_groups, filter.dims[0], filter.to_string()));
  PHI_CHECK(x.dims[0] < im2col_step || x.dims[0] % im2col_step == 0,
            errors::InvalidArgument("im2col_step is {} and x {}: images are processed in steps of "
                                    "that many, which must divide their number {} or exceed it.",
                                    im2col_step, x.to_string(), x.dims[0]));
  const int64_t places = deformable_groups * filter.dims[2] * filter.dims[3];
  const auto check_places = [&](const TensorMeta& places_of, std::string_view name, int64_t each) {
    const Dims wanted{x.dims[0], each * places, out.dims[2], out.dims[3]};
    PHI_CHECK(places_of.dims == wanted && places_of.dtype == x.dtype,
              errors::InvalidArgument("{} is {}, but x {} and filter {} require {}{}.", name,
                                      places_of.to_string(), x.to_string(), filter.to_string(),
                                      short_name_of(x.dtype), wanted.to_string()));
  };
  check_places(offset, "offset", 2);
  if (mask) check_places(*mask, "mask", 1);
  return out;
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>>
DeformableConvGradInferMeta(const TensorMeta& x, const TensorMeta& offset, const TensorMeta& filter,
                            const TensorMeta* mask) {
  return {x, offset, filter, mask ? std::optional(*mask) : std::nullopt};
}

}  // namespace phi
