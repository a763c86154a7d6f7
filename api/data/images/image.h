// Image: decoded pixels, red, green and blue, 8 bits each.
#pragma once

#include <cstdint>
#include <vector>

namespace phi::data {

struct Image {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;  // [height, width, 3]

  static constexpr int64_t kChannels = 3;
  int64_t row_bytes() const { return width * kChannels; }
};

}  // namespace phi::data
