// Replaces the JPEG decoder in a build without libjpeg.
#include "api/data/images/decode_image.h"
#include "phi/common/errors.h"

namespace phi::data {

Image decode_jpeg(const std::string& path, std::span<const std::byte> /*file*/) {
  throw errors::Unimplemented(
      "'{}' is a JPEG file, and this build has no libjpeg; install libjpeg62-turbo-dev "
      "(tools/setup "
      "does) and build again.",
      path);
}

}  // namespace phi::data
