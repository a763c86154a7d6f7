// Shapes of ops that move elements between channels, pixels and frames of images.
#include "phi/infermeta/channels.h"

#include "phi/common/errors.h"

namespace phi {
namespace {

void check_channels_image(const TensorMeta& x) {
  PHI_CHECK(x.dims.ndim() == 4,
            errors::InvalidArgument("x is {}, but images have 4 tensor dims: a batch, channels, "
                                    "height and width.",
                                    x.to_string()));
}

// Errors: InvalidArgument if the extent is known and `divisor` does not divide it.
void check_divides(const TensorMeta& x, int tensor_dim, int64_t divisor, const char* name) {
  PHI_CHECK(divisor > 0 && (x.dims[tensor_dim] == kUnknownDim || x.dims[tensor_dim] % divisor == 0),
            errors::InvalidArgument("{} requests parts of {} of tensor dim {} of x {}, which must "
                                    "be positive and divide its extent.",
                                    name, divisor, tensor_dim, x.to_string()));
}

// Errors: InvalidArgument for a factor below 1, or one whose square is too large.
int64_t squared(int factor, const char* name) {
  PHI_CHECK(factor > 0,
            errors::InvalidArgument("{} is {}, but it must be at least 1.", name, factor));
  return static_cast<int64_t>(factor) * factor;
}

int64_t scaled(int64_t extent, int64_t times, int64_t by) {
  return extent == kUnknownDim ? kUnknownDim : extent_times(extent / by, times);
}

}  // namespace

ImageDims image_dims(const std::string& data_format) {
  PHI_CHECK(
      data_format == "NCHW" || data_format == "NHWC",
      errors::InvalidArgument("data_format is '{}'; NCHW and NHWC are accepted.", data_format));
  return data_format == "NCHW" ? ImageDims{1, 2, 3} : ImageDims{3, 1, 2};
}

TensorMeta ChannelShuffleInferMeta(const TensorMeta& x, int groups,
                                   const std::string& data_format) {
  const ImageDims image = image_dims(data_format);
  check_channels_image(x);
  check_divides(x, image.channels, groups, "groups");
  return x;
}

TensorMeta PixelShuffleInferMeta(const TensorMeta& x, int upscale_factor,
                                 const std::string& data_format) {
  const ImageDims image = image_dims(data_format);
  const int64_t pixels = squared(upscale_factor, "upscale_factor");
  check_channels_image(x);
  check_divides(x, image.channels, pixels, "upscale_factor");
  TensorMeta out = x;
  out.dims[image.channels] = scaled(x.dims[image.channels], 1, pixels);
  out.dims[image.height] = scaled(x.dims[image.height], upscale_factor, 1);
  out.dims[image.width] = scaled(x.dims[image.width], upscale_factor, 1);
  return out;
}

TensorMeta PixelUnshuffleInferMeta(const TensorMeta& x, int downscale_factor,
                                   const std::string& data_format) {
  const ImageDims image = image_dims(data_format);
  const int64_t pixels = squared(downscale_factor, "downscale_factor");
  check_channels_image(x);
  check_divides(x, image.height, downscale_factor, "downscale_factor");
  check_divides(x, image.width, downscale_factor, "downscale_factor");
  TensorMeta out = x;
  out.dims[image.channels] = scaled(x.dims[image.channels], pixels, 1);
  out.dims[image.height] = scaled(x.dims[image.height], 1, downscale_factor);
  out.dims[image.width] = scaled(x.dims[image.width], 1, downscale_factor);
  return out;
}

TensorMeta TemporalShiftInferMeta(const TensorMeta& x, int seg_num, float shift_ratio,
                                  const std::string& data_format) {
  image_dims(data_format);
  check_channels_image(x);
  check_divides(x, 0, seg_num, "seg_num");
  PHI_CHECK(shift_ratio > 0.0f && shift_ratio < 0.5f,
            errors::InvalidArgument("shift_ratio is {}, but it must be between 0 and 0.5: it is "
                                    "the fraction of channels shifted in each direction.",
                                    shift_ratio));
  return x;
}

TensorMeta AddPositionEncodingInferMeta(const TensorMeta& x) {
  PHI_CHECK(x.dims.ndim() == 3 && is_floating(x.dtype) &&
                (x.dims[2] == kUnknownDim || x.dims[2] % 2 == 0),
            errors::InvalidArgument("x is {}, but it must be a floating [batch, positions, width] "
                                    "with an even width, half sines and half cosines.",
                                    x.to_string()));
  return x;
}

}  // namespace phi
