// Replaces the PNG decoder in a build without libpng.
#include "api/data/images/decode_image.h"
#include "phi/common/errors.h"

namespace phi::data {

Image decode_png(const std::string& path, std::span<const std::byte> /*file*/) {
  throw errors::Unimplemented(
      "'{}' is a PNG file, and this build has no libpng; install libpng-dev (tools/setup does) and "
      "build again.",
      path);
}

}  // namespace phi::data
