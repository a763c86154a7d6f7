// PNG and JPEG files of all kinds, made by their libraries.
#pragma once

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// libjpeg's header needs <cstdio>.
#include <jpeglib.h>

namespace phi::data {

using Bytes = std::vector<std::byte>;

inline void append_png(png_structp png, png_bytep data, png_size_t size) {
  auto* out = static_cast<Bytes*>(png_get_io_ptr(png));
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  out->insert(out->end(), bytes, bytes + size);
}

struct PngKind {
  int color_type = PNG_COLOR_TYPE_RGB;
  int bit_depth = 8;
  std::vector<png_color> palette = {};
};

/// `rows` has `height` rows of packed samples as the kind stores them.
inline Bytes png_of(const PngKind& kind, uint32_t width, uint32_t height,
                    std::vector<uint8_t> rows) {
  Bytes out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) std::abort();
  png_set_write_fn(png, &out, append_png, nullptr);
  png_set_IHDR(png, info, width, height, kind.bit_depth, kind.color_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!kind.palette.empty()) {
    png_set_PLTE(png, info, kind.palette.data(), static_cast<int>(kind.palette.size()));
  }
  png_write_info(png, info);
  const size_t row_bytes = rows.size() / height;
  for (uint32_t y = 0; y < height; ++y) png_write_row(png, rows.data() + y * row_bytes);
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

/// `rows` has `components` samples per pixel. Quality 100, without subsampling of colours.
inline Bytes jpeg_of(J_COLOR_SPACE space, int components, uint32_t width, uint32_t height,
                     std::vector<uint8_t> rows, bool is_progressive = false) {
  jpeg_compress_struct encoder = {};
  jpeg_error_mgr errors = {};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &data, &size);
  encoder.image_width = width;
  encoder.image_height = height;
  encoder.input_components = components;
  encoder.in_color_space = space;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 100, TRUE);
  encoder.comp_info[0].h_samp_factor = encoder.comp_info[0].v_samp_factor = 1;
  if (is_progressive) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  for (uint32_t y = 0; y < height; ++y) {
    JSAMPROW row = rows.data() + static_cast<size_t>(y) * width * static_cast<size_t>(components);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  Bytes out(bytes, bytes + size);
  jpeg_destroy_compress(&encoder);
  std::free(data);
  return out;
}

}  // namespace phi::data
