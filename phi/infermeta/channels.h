// Shapes of ops that move elements between channels, pixels and frames of images.
#pragma once

#include <string>

#include "phi/core/meta.h"

namespace phi {

/// Tensor dims of an image array. The first tensor dim is the batch.
struct ImageDims {
  int channels;
  int height;
  int width;
};
/// The tensor dims of `data_format`. Errors: InvalidArgument unless it is NCHW or NHWC.
ImageDims image_dims(const std::string& data_format);

/// Returns x's meta. `groups` must divide the number of channels.
TensorMeta ChannelShuffleInferMeta(const TensorMeta& x, int groups, const std::string& data_format);

/// Moves channels to pixels: height and width grow by upscale_factor, whose square must divide the
/// number of channels.
TensorMeta PixelShuffleInferMeta(const TensorMeta& x, int upscale_factor,
                                 const std::string& data_format);

/// Moves pixels to channels: the inverse of pixel_shuffle. downscale_factor must divide height and
/// width.
TensorMeta PixelUnshuffleInferMeta(const TensorMeta& x, int downscale_factor,
                                   const std::string& data_format);

/// Returns x's meta. seg_num must divide the first tensor dim, and shift_ratio is between 0 and
/// 0.5.
TensorMeta TemporalShiftInferMeta(const TensorMeta& x, int seg_num, float shift_ratio,
                                  const std::string& data_format);

/// Returns the meta of x, which is [batch, positions, width] with an even width.
TensorMeta AddPositionEncodingInferMeta(const TensorMeta& x);

}  // namespace phi
