// Shapes of ops that move elements between channels, pixels and frames.
#pragma once

#include <string>

#include "phi/core/meta.h"

namespace phi {

/// Where an image array has its channels, height and width; the first tensor dim is the batch.
struct ImageDims {
  int channels;
  int height;
  int width;
};
/// Errors: InvalidArgument for a format other than NCHW and NHWC.
ImageDims image_dims(const std::string& data_format);

/// `groups` divides the channels.
TensorMeta ChannelShuffleInferMeta(const TensorMeta& x, int groups, const std::string& data_format);

/// upscale_factor squared divides the channels, which become pixels.
TensorMeta PixelShuffleInferMeta(const TensorMeta& x, int upscale_factor,
                                 const std::string& data_format);

/// downscale_factor divides height and width, whose pixels become channels.
TensorMeta PixelUnshuffleInferMeta(const TensorMeta& x, int downscale_factor,
                                   const std::string& data_format);

/// seg_num divides the first tensor dim; shift_ratio lies between 0 and 0.5.
TensorMeta TemporalShiftInferMeta(const TensorMeta& x, int seg_num, float shift_ratio,
                                  const std::string& data_format);

/// x is [batch, positions, width] with an even width.
TensorMeta AddPositionEncodingInferMeta(const TensorMeta& x);

}  // namespace phi
