// Bilinear scaling with a filter that widens with the reduction, one side after the other.
#include "api/data/images/resize_image.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace phi::data {
namespace {

// The input elements that contribute to one output element, with weights that sum to 1.
struct Taps {
  int64_t first = 0;
  std::vector<float> weights;
};

// Taps of `count` outputs from output `begin` on, of a side of `in` elements that is scaled to
// `out`.
std::vector<Taps> taps_of(int64_t in, int64_t out, int64_t begin, int64_t count) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double support = std::max(scale, 1.0);
  std::vector<Taps> all;
  for (int64_t i = begin; i < begin + count; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    Taps taps;
    taps.first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(center - support + 0.5)));
    const int64_t end = std::min(in, static_cast<int64_t>(std::floor(center + support + 0.5)));
    double sum = 0.0;
    std::vector<double> weights;
    for (int64_t at = taps.first; at < end; ++at) {
      const double distance = std::abs(static_cast<double>(at) + 0.5 - center) / support;
      weights.push_back(std::max(0.0, 1.0 - distance));
      sum += weights.back();
    }
    for (const double weight : weights) taps.weights.push_back(static_cast<float>(weight / sum));
    all.push_back(std::move(taps));
  }
  return all;
}

// Rows [begin, end) of the image with scaled columns: [end - begin, taps.size(), 3].
std::vector<float> scale_columns(const Image& image, int64_t begin, int64_t end,
                                 const std::vector<Taps>& taps) {
  std::vector<float> out;
  out.reserve(static_cast<size_t>((end - begin) * Image::kChannels) * taps.size());
  for (int64_t row = begin; row < end; ++row) {
    const uint8_t* from = image.pixels.data() + row * image.row_bytes();
    for (const Taps& tap : taps) {
      for (int64_t c = 0; c < Image::kChannels; ++c) {
        float sum = 0.0f;
        for (size_t k = 0; k < tap.weights.size(); ++k) {
          const int64_t column = tap.first + static_cast<int64_t>(k);
          sum += tap.weights[k] * static_cast<float>(from[column * Image::kChannels + c]);
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

// `rows` begins with row `begin` of the image.
Image scale_rows(const std::vector<float>& rows, int64_t begin, int64_t width,
                 const std::vector<Taps>& taps) {
  Image out{static_cast<int64_t>(taps.size()), width, {}};
  const int64_t row_size = width * Image::kChannels;
  for (const Taps& tap : taps) {
    for (int64_t i = 0; i < row_size; ++i) {
      float sum = 0.0f;
      for (size_t k = 0; k < tap.weights.size(); ++k) {
        const int64_t row = tap.first - begin + static_cast<int64_t>(k);
        sum += tap.weights[k] * rows[static_cast<size_t>(row * row_size + i)];
      }
      out.pixels.push_back(static_cast<uint8_t>(std::clamp(std::floor(sum + 0.5f), 0.0f, 255.0f)));
    }
  }
  return out;
}

}  // namespace

Image resize_and_crop(const Image& image, int64_t size) {
  if (image.height == size && image.width == size) return image;
  const int64_t shorter = std::min(image.height, image.width);
  // The whole scaled image has scaled(height) x scaled(width) pixels; the shorter side has `size`.
  const auto scaled = [&](int64_t side) { return side * size / shorter; };
  const auto taps = [&](int64_t side) {
    return taps_of(side, scaled(side), (scaled(side) - size) / 2, size);
  };
  const std::vector<Taps> rows = taps(image.height);
  // Rows that the crop leaves out are not scaled.
  const int64_t begin = rows.front().first;
  const int64_t end = rows.back().first + std::ssize(rows.back().weights);
  return scale_rows(scale_columns(image, begin, end, taps(image.width)), begin, size, rows);
}

}  // namespace phi::data
