// Scales images to one size.
#pragma once

#include <cstdint>

#include "api/data/images/image.h"

namespace phi::data {

/// Scales an image so that its shorter side is `size`, then crops the centre: [size, size]. An
/// image of this size stays as it is. docs/data.md has the arithmetic (bilinear, with
/// antialiasing).
Image resize_and_crop(const Image& image, int64_t size);

}  // namespace phi::data
