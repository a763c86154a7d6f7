// Decodes JPEG by libjpeg. Its errors leave by longjmp, so the functions that call it own no
// objects with destructors.
#include <csetjmp>
#include <cstdio>
// libjpeg's header needs the two above.
#include <jpeglib.h>

#include "api/data/images/decode_image.h"
#include "phi/common/errors.h"

namespace phi::data {
namespace {

struct JpegState {
  jpeg_decompress_struct decoder = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf failed = {};
  char message[JMSG_LENGTH_MAX] = {};
};

JpegState* state_of(j_common_ptr decoder) { return static_cast<JpegState*>(decoder->client_data); }

[[noreturn]] void leave(j_common_ptr decoder) {
  JpegState* state = state_of(decoder);
  decoder->err->format_message(decoder, state->message);
  std::longjmp(state->failed, 1);
}

// A warning is an error too: it reports corrupt or missing data. Other messages are traces.
void leave_if_warning(j_common_ptr decoder, int level) {
  if (level < 0) leave(decoder);
}

// Prepares the decoder and reads the header. False on an error.
bool read_header(JpegState* state, std::span<const std::byte> file) {
  state->decoder.err = jpeg_std_error(&state->errors);
  state->errors.error_exit = leave;
  state->errors.emit_message = leave_if_warning;
  state->decoder.client_data = state;
  if (setjmp(state->failed) != 0) return false;
  jpeg_create_decompress(&state->decoder);
  state->decoder.client_data = state;
  jpeg_mem_src(&state->decoder, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&state->decoder, /*require_image=*/TRUE);
  return true;
}

// Decodes all rows. False on an error.
bool read_rows(JpegState* state, uint8_t* pixels, int64_t row_bytes) {
  if (setjmp(state->failed) != 0) return false;
  state->decoder.out_color_space = JCS_RGB;
  jpeg_start_decompress(&state->decoder);
  while (state->decoder.output_scanline < state->decoder.output_height) {
    JSAMPROW row = pixels + state->decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&state->decoder, &row, 1);
  }
  jpeg_finish_decompress(&state->decoder);
  return true;
}

// Frees what libjpeg holds.
struct JpegDecoder {
  JpegState state;
  JpegDecoder() = default;
  ~JpegDecoder() { jpeg_destroy_decompress(&state.decoder); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  void check(const std::string& path, bool is_done) const {
    PHI_CHECK(is_done,
              errors::InvalidArgument("'{}' is a damaged JPEG file: {}.", path, state.message));
  }
};

}  // namespace

Image decode_jpeg(const std::string& path, std::span<const std::byte> file) {
  JpegDecoder jpeg;
  jpeg.check(path, read_header(&jpeg.state, file));
  const jpeg_decompress_struct& header = jpeg.state.decoder;
  check_image_size(path, header.image_height, header.image_width);
  PHI_CHECK(header.jpeg_color_space != JCS_CMYK && header.jpeg_color_space != JCS_YCCK,
            errors::InvalidArgument("'{}' is a CMYK JPEG file; convert it to RGB.", path));
  Image image{header.image_height, header.image_width, {}};
  image.pixels.resize(static_cast<size_t>(image.height * image.row_bytes()));
  jpeg.check(path, read_rows(&jpeg.state, image.pixels.data(), image.row_bytes()));
  return image;
}

}  // namespace phi::data
