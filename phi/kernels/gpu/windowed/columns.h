// im2col and col2im on a GPU. The columns of an image have a row for each channel and tap of the
// window, and an element for each position; it is 0 if the tap is in the padding.
#pragma once

#include <cstdint>

#include "phi/core/device/device_context.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/windowed/sliding.h"

namespace phi::gpu {

/// Strides in elements between images, channels and pixels.
struct ImageSteps {
  int64_t image;
  int64_t channel;
  int64_t pixel;
};
/// Strides for images of `channels` channels and `pixels` pixels each.
inline ImageSteps image_steps(bool channels_last, int64_t channels, int64_t pixels) {
  const int64_t image = channels * pixels;
  return channels_last ? ImageSteps{image, 1, channels} : ImageSteps{image, pixels, 1};
}

/// Writes columns [images, channels, taps, positions].
template <typename T>
void image_to_columns(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const T* image, T* columns);

/// image = the sum of the columns' elements that belong to each pixel, accumulated in the compute
/// type. From is T or its compute type.
template <typename T, typename From>
void columns_to_image(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const From* columns, T* image);

}  // namespace phi::gpu
