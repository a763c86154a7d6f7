// The columns of images on a GPU: a row for each channel and tap of the window, an element for each
// position (0 where the tap meets padding).
#pragma once

#include <cstdint>

#include "phi/core/device/device_context.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/window/sliding.h"

namespace phi::gpu {

/// How far apart the images of an array, their channels, and their pixels are.
struct ImageSteps {
  int64_t image;
  int64_t channel;
  int64_t pixel;
};
/// Of images of so many channels and pixels each.
inline ImageSteps image_steps(bool channels_last, int64_t channels, int64_t pixels) {
  const int64_t image = channels * pixels;
  return channels_last ? ImageSteps{image, 1, channels} : ImageSteps{image, pixels, 1};
}

/// columns [images, channels, taps, positions].
template <typename T>
void image_to_columns(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const T* image, T* columns);

/// image = what the columns have of it, summed in the computing type. From: T, or its computing
/// type.
template <typename T, typename From>
void columns_to_image(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const From* columns, T* image);

}  // namespace phi::gpu
