// Decodes PNG and JPEG files, which may be damaged or hostile.
//
//   const Image image = decode_image("cat.png", bytes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "api/data/images/image.h"

namespace phi::data {

/// Larger images are refused before memory is allocated for them.
inline constexpr int64_t kMaxPixels = int64_t{1} << 27;

/// Decodes a file by its first bytes, whatever its name is. `path` is used in messages.
///
/// PNG    All colour types and depths. Palettes and gray become RGB, 16 bits become 8, alpha is
///        dropped.
/// JPEG   Baseline and progressive, gray and colour. CMYK is refused.
/// Errors InvalidArgument with the reason, for a file of another type, and for missing or damaged
///        pixels; Unimplemented if this build has no decoder for the type.
Image decode_image(const std::string& path, std::span<const std::byte> file);

// Each is in a source of its own, or in a stub where its library is missing.
Image decode_png(const std::string& path, std::span<const std::byte> file);
Image decode_jpeg(const std::string& path, std::span<const std::byte> file);

/// Errors: InvalidArgument for an empty image, or one of more than kMaxPixels.
void check_image_size(const std::string& path, int64_t height, int64_t width);

}  // namespace phi::data
