// In a build without libpng or libjpeg, an image of the type is an error that names the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "api/data/images/decode_image.h"
#include "tests/support/error_matchers.h"

namespace phi::data {
namespace {

template <size_t N>
void expect_missing(const std::array<uint8_t, N>& file, const char* words) {
  EXPECT_THAT([&] { decode_image("a.png", std::as_bytes(std::span(file))); },
              ThrowsError(ErrorCode::kUnimplemented, words));
}

TEST(DecoderStubs, NameTheMissingLibrary) {
  expect_missing(std::array<uint8_t, 8>{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'},
                 "'a.png' is a PNG file, and this build has no libpng; install libpng-dev");
  expect_missing(
      std::array<uint8_t, 3>{0xff, 0xd8, 0xff},
      "'a.png' is a JPEG file, and this build has no libjpeg; install libjpeg62-turbo-dev");
}

}  // namespace
}  // namespace phi::data
