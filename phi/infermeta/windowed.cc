// Windows that slide over images.
#include "phi/infermeta/windowed.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {
namespace {

// `least` is the smallest entry that is accepted.
void check_entries(std::span<const int> values, std::string_view name, size_t wanted, int least) {
  PHI_CHECK(values.size() == wanted,
            errors::InvalidArgument("{} is [{}], but there are {} spatial dims; it must have one "
                                    "entry for each.",
                                    name, fmt::join(values, ","), wanted));
  PHI_CHECK(std::ranges::all_of(values, [&](int v) { return v >= least; }),
            errors::InvalidArgument("{} is [{}], but each entry must be {} or more.", name,
                                    fmt::join(values, ","), least));
}

// "SAME": padding for ceil(extent / stride) positions. An odd element is added at the end.
void pad_same(int64_t extent, Window* window) {
  window->dilation = 1;
  const int64_t positions = (extent + window->stride - 1) / window->stride;
  const int64_t sum =
      std::max<int64_t>((positions - 1) * window->stride + window->size - extent, 0);
  window->pad_begin = sum / 2;
  window->pad_end = sum - sum / 2;
}

// Explicit paddings as [begin, end] per spatial dim.
std::vector<int64_t> explicit_paddings(const std::vector<int>& paddings, size_t spatial) {
  PHI_CHECK(
      paddings.size() == spatial || paddings.size() == 2 * spatial,
      errors::InvalidArgument("paddings is [{}], but {} spatial dims require {} or {} entries.",
                              fmt::join(paddings, ","), spatial, spatial, 2 * spatial));
  check_entries(paddings, "paddings", paddings.size(), 0);
  std::vector<int64_t> pairs;
  const bool both = paddings.size() == 2 * spatial;
  for (size_t d = 0; d < spatial; ++d) {
    pairs.push_back(paddings[both ? 2 * d : d]);
    pairs.push_back(paddings[both ? 2 * d + 1 : d]);
  }
  return pairs;
}

}  // namespace

ImageLayout::ImageLayout(const std::string& data_format)
    : channels_last(data_format.ends_with('C')) {
  // Each name is accepted for any number of spatial dims.
  constexpr std::array kNames{"NCHW", "NCDHW", "NCL", "NCW", "NHWC", "NDHWC", "NLC", "NWC"};
  PHI_CHECK(std::ranges::find(kNames, data_format) != kNames.end(),
            errors::InvalidArgument("data_format is '{}', but it must be NCHW or NCDHW, where "
                                    "channels come first, or NHWC or NDHWC, where they are last.",
                                    data_format));
}

Dims ImageLayout::dims(int64_t n, int64_t c, std::span<const int64_t> spatial) const {
  Dims dims{n};
  if (!channels_last) dims.push_back(c);
  for (int64_t extent : spatial) dims.push_back(extent);
  if (channels_last) dims.push_back(c);
  return dims;
}

int64_t Window::positions(int64_t extent, bool ceil) const {
  const int64_t room = extent + pad_begin + pad_end - reach();
  if (room < 0) return 0;
  return (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

SlidingWindows make_windows(std::span<const int64_t> extents, std::span<const int64_t> sizes,
                            const WindowAttributes& attributes) {
  const size_t spatial = extents.size();
  PHI_CHECK(
      sizes.size() == spatial && std::ranges::all_of(sizes, [](int64_t s) { return s > 0; }),
      errors::InvalidArgument(
          "the windows are [{}], but there are {} spatial dims; each needs one positive size.",
          fmt::join(sizes, ","), spatial));
  check_entries(attributes.strides, "strides", spatial, 1);
  check_entries(attributes.dilations, "dilations", spatial, 1);
  const std::string& algorithm = attributes.padding_algorithm;
  PHI_CHECK(algorithm == "EXPLICIT" || algorithm == "SAME" || algorithm == "VALID",
            errors::InvalidArgument("padding_algorithm is '{}', but it must be EXPLICIT, SAME or "
                                    "VALID.",
                                    algorithm));
  const auto paddings = algorithm == "EXPLICIT" ? explicit_paddings(attributes.paddings, spatial)
                                                : std::vector<int64_t>(2 * spatial, 0);
  SlidingWindows windows;
  for (size_t d = 0; d < spatial; ++d) {
    Window window{sizes[d], attributes.strides[d], attributes.dilations[d], paddings[2 * d],
                  paddings[2 * d + 1]};
    if (algorithm == "SAME") pad_same(extents[d], &window);
    windows.push_back(window);
  }
  return windows;
}

std::vector<int64_t> entries(std::span<const int> values) { return {values.begin(), values.end()}; }

}  // namespace phi
