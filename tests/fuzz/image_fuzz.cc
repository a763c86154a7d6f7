// An image file: decoded, and scaled if it is small.
#include "api/data/images/decode_image.h"
#include "api/data/images/resize_image.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace phi;
  fuzz::expect_result_or_error([&] {
    const phi::data::Image image =
        phi::data::decode_image("image", std::as_bytes(std::span(data, size)));
    if (image.height * image.width < 65536) phi::data::resize_and_crop(image, 8);
  });
  return 0;
}
