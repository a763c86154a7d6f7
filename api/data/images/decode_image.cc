// Detects the type of an image file.
#include "api/data/images/decode_image.h"

#include <algorithm>
#include <array>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

constexpr std::array<uint8_t, 8> kPng = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<uint8_t, 3> kJpeg = {0xff, 0xd8, 0xff};

template <size_t N>
bool starts_with(std::span<const std::byte> file, const std::array<uint8_t, N>& begin) {
  return file.size() >= N && std::ranges::equal(file.first(N), std::as_bytes(std::span(begin)));
}

}  // namespace

Image decode_image(const std::string& path, std::span<const std::byte> file) {
  if (starts_with(file, kPng)) return decode_png(path, file);
  if (starts_with(file, kJpeg)) return decode_jpeg(path, file);
  throw errors::InvalidArgument("'{}' is neither a PNG nor a JPEG file ({} bytes).", path,
                                file.size());
}

void check_image_size(const std::string& path, int64_t height, int64_t width) {
  PHI_CHECK(
      height > 0 && width > 0 && height <= kMaxPixels / width,
      errors::InvalidArgument("'{}' is an image of {} x {} pixels; images have 1 to {} pixels.",
                              path, width, height, kMaxPixels));
}

}  // namespace phi::data
