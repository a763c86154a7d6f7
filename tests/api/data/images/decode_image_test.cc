// PNG and JPEG files of all kinds are decoded, and damaged ones are told.
#include "api/data/images/decode_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "api/data/images/resize_image.h"
#include "tests/api/data/images/encoded_images.h"
#include "tests/support/error_matchers.h"

namespace phi::data {
namespace {

using Pixels = std::vector<uint8_t>;

Pixels pixels_of(const Bytes& file) { return decode_image("a.png", file).pixels; }

TEST(DecodePng, AllKindsBecomeRgb) {
  EXPECT_EQ(pixels_of(png_of({}, 2, 1, {10, 20, 30, 40, 50, 60})),
            (Pixels{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(pixels_of(png_of({PNG_COLOR_TYPE_GRAY}, 2, 1, {7, 200})),
            (Pixels{7, 7, 7, 200, 200, 200}));
  EXPECT_EQ(pixels_of(png_of({PNG_COLOR_TYPE_GRAY, 1}, 2, 1, {0x40})),
            (Pixels{0, 0, 0, 255, 255, 255}));
  const std::vector<png_color> palette = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(pixels_of(png_of({PNG_COLOR_TYPE_PALETTE, 8, palette}, 2, 1, {1, 0})),
            (Pixels{4, 5, 6, 1, 2, 3}));
  // Alpha is dropped.
  EXPECT_EQ(
      pixels_of(png_of({PNG_COLOR_TYPE_RGB_ALPHA}, 2, 1, {10, 20, 30, 128, 40, 50, 60, 0})).size(),
      6u);
  const Pixels dropped = pixels_of(png_of({PNG_COLOR_TYPE_RGB_ALPHA}, 1, 1, {10, 20, 30, 128}));
  EXPECT_EQ(dropped, (Pixels{10, 20, 30}));
  // 16 bits become 8.
  EXPECT_EQ(pixels_of(png_of({PNG_COLOR_TYPE_RGB, 16}, 1, 1, {200, 200, 100, 100, 0, 0})),
            (Pixels{200, 100, 0}));
}

TEST(DecodePng, RowsAreInOrder) {
  const Image image = decode_image("a.png", png_of({PNG_COLOR_TYPE_GRAY}, 1, 3, {1, 2, 3}));
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(image.width, 1);
  EXPECT_EQ(image.pixels, (Pixels{1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

void expect_near(const Pixels& given, const Pixels& expected) {
  ASSERT_EQ(given.size(), expected.size());
  for (size_t i = 0; i < given.size(); ++i) EXPECT_NEAR(given[i], expected[i], 3) << i;
}

TEST(DecodeJpeg, GrayAndColourBecomeRgb) {
  Pixels red;
  for (int i = 0; i < 64; ++i) red.insert(red.end(), {200, 40, 60});
  expect_near(pixels_of(jpeg_of(JCS_RGB, 3, 8, 8, red)), red);
  expect_near(pixels_of(jpeg_of(JCS_RGB, 3, 8, 8, red, /*is_progressive=*/true)), red);
  expect_near(pixels_of(jpeg_of(JCS_GRAYSCALE, 1, 8, 8, Pixels(64, 77))), Pixels(192, 77));
}

TEST(DecodeJpeg, CmykIsRefused) {
  EXPECT_THAT(
      [] { decode_image("a.png", jpeg_of(JCS_CMYK, 4, 8, 8, Pixels(256, 9))); },
      ThrowsError(ErrorCode::kInvalidArgument, "'a.png' is a CMYK JPEG file; convert it to RGB"));
}

TEST(DecodeImage, OtherFilesAreRefused) {
  EXPECT_THAT([] { decode_image("a.png", {}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "'a.png' is neither a PNG nor a JPEG file (0 bytes)"));
  const Bytes gif = {std::byte{'G'}, std::byte{'I'}, std::byte{'F'}};
  EXPECT_THAT([&] { decode_image("a.png", gif); },
              ThrowsError(ErrorCode::kInvalidArgument, "neither a PNG nor a JPEG file"));
}

// A PNG of 2^30 x 2^30 pixels, which its header alone says.
TEST(DecodeImage, AHugeImageIsRefusedBeforeItIsAllocated) {
  EXPECT_THAT(
      [] { check_image_size("a.png", 1 << 30, 1 << 30); },
      ThrowsError(ErrorCode::kInvalidArgument, "an image of 1073741824 x 1073741824 pixels"));
  EXPECT_THAT([] { check_image_size("a.png", 0, 4); },
              ThrowsError(ErrorCode::kInvalidArgument, "4 x 0"));
  EXPECT_NO_THROW(check_image_size("a.png", 1 << 13, 1 << 14));
}

std::vector<Bytes> good_files() {
  Pixels noise(16 * 16 * 3);
  std::mt19937 random(1);
  for (uint8_t& value : noise) value = static_cast<uint8_t>(random());
  return {png_of({}, 16, 16, noise), jpeg_of(JCS_RGB, 3, 16, 16, noise)};
}

TEST(DecodeImage, ATruncatedFileIsDamaged) {
  for (const Bytes& file : good_files()) {
    for (const size_t size : {file.size() / 2, file.size() - 20}) {
      const Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THAT([&] { decode_image("a.png", part); },
                  ThrowsError(ErrorCode::kInvalidArgument, "'a.png' is a damaged"))
          << size << " of " << file.size();
    }
  }
}

// Whatever the bytes are, the outcome is an image or an Error.
TEST(DecodeImage, MutatedFilesNeverCrash) {
  std::mt19937 random(7);
  for (const Bytes& file : good_files()) {
    for (int i = 0; i < 2000; ++i) {
      Bytes changed = file;
      for (int edits = 0; edits < 3; ++edits) {
        changed[8 + random() % (changed.size() - 8)] = static_cast<std::byte>(random());
      }
      try {
        decode_image("a.png", changed);
      } catch (const Error&) {
      }
    }
  }
}

Image gradient(int64_t height, int64_t width) {
  Image image{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (const int64_t value : {4 * x, 4 * y, int64_t{50}}) {
        image.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return image;
}

TEST(ResizeImage, AnImageOfTheSizeStays) {
  const Image image = gradient(9, 9);
  EXPECT_EQ(resize_and_crop(image, 9).pixels, image.pixels);
}

TEST(ResizeImage, TheCentreIsCropped) {
  // Columns 2 to 6 of 9.
  const Image cropped = resize_and_crop(gradient(5, 9), 5);
  ASSERT_EQ(cropped.pixels.size(), 75u);
  for (int64_t y = 0; y < 5; ++y) {
    for (int64_t x = 0; x < 5; ++x) {
      const uint8_t* pixel = cropped.pixels.data() + (y * 5 + x) * 3;
      EXPECT_EQ(pixel[0], 4 * (x + 2));
      EXPECT_EQ(pixel[1], 4 * y);
      EXPECT_EQ(pixel[2], 50);
    }
  }
}

// Halving averages with the weights 1 3 3 1, which leave a gradient as it is between the edges.
TEST(ResizeImage, AGradientStaysOne) {
  const Image half = resize_and_crop(gradient(32, 32), 16);
  for (int64_t y = 1; y < 15; ++y) {
    for (int64_t x = 1; x < 15; ++x) {
      const uint8_t* pixel = half.pixels.data() + (y * 16 + x) * 3;
      EXPECT_EQ(pixel[0], 8 * x + 2);
      EXPECT_EQ(pixel[1], 8 * y + 2);
      EXPECT_EQ(pixel[2], 50);
    }
  }
}

// Only the rows that remain are scaled.
TEST(ResizeImage, AVeryTallImageIsCropped) {
  Image image{100001, 1, {}};
  for (int64_t y = 0; y < image.height; ++y) {
    image.pixels.insert(image.pixels.end(), 3, y == 50000 ? 90 : 10);
  }
  const Image cropped = resize_and_crop(image, 1000);
  EXPECT_EQ(cropped.pixels.size(), 3000000u);
  EXPECT_EQ(cropped.pixels[3 * 1000 * 500], 90);
}

TEST(ResizeImage, DoublingInterpolates) {
  Image image{1, 2, {0, 0, 0, 100, 100, 100}};
  image.height = 2;
  image.pixels.insert(image.pixels.end(), {0, 0, 0, 100, 100, 100});
  const Image twice = resize_and_crop(image, 4);
  const std::vector<int> expected = {0, 25, 75, 100};
  for (size_t x = 0; x < 4; ++x) EXPECT_EQ(twice.pixels[x * 3], expected[x]) << x;
}

}  // namespace
}  // namespace phi::data
