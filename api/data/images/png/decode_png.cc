// Decodes PNG by libpng's functions png_image_*, which return errors and call no longjmp.
#include <png.h>

#include <algorithm>

#include "api/data/images/decode_image.h"
#include "phi/common/errors.h"

namespace phi::data {
namespace {

constexpr int64_t kWithAlpha = 4;

// Frees what libpng holds for an image.
class PngReader {
 public:
  PngReader(const std::string& path, std::span<const std::byte> file) : path_(path) {
    image_.version = PNG_IMAGE_VERSION;
    check(png_image_begin_read_from_memory(&image_, file.data(), file.size()));
    // 16-bit files without a gamma are not linear.
    image_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    image_.format = PNG_FORMAT_RGBA;
  }
  ~PngReader() { png_image_free(&image_); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  int64_t height() const { return image_.height; }
  int64_t width() const { return image_.width; }

  std::vector<uint8_t> read() {
    std::vector<uint8_t> pixels(static_cast<size_t>(height() * width() * kWithAlpha));
    check(png_image_finish_read(&image_, /*background=*/nullptr, pixels.data(), /*row_stride=*/0,
                                /*colormap=*/nullptr));
    return pixels;
  }

 private:
  // Warnings are about data besides the pixels, such as colour profiles.
  void check(int is_done) const {
    PHI_CHECK(is_done != 0,
              errors::InvalidArgument("'{}' is a damaged PNG file: {}.", path_, image_.message));
  }

  const std::string& path_;
  png_image image_ = {};
};

}  // namespace

Image decode_png(const std::string& path, std::span<const std::byte> file) {
  PngReader reader(path, file);
  check_image_size(path, reader.height(), reader.width());
  const std::vector<uint8_t> pixels = reader.read();
  Image image{reader.height(), reader.width(), {}};
  image.pixels.resize(static_cast<size_t>(image.height * image.row_bytes()));
  const uint8_t* from = pixels.data();
  for (auto to = image.pixels.begin(); to != image.pixels.end(); to += Image::kChannels) {
    std::copy_n(from, Image::kChannels, to);
    from += kWithAlpha;
  }
  return image;
}

}  // namespace phi::data
