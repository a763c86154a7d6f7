// Names of formats.
#include "api/data/images/image_options.h"

#include <fmt/ranges.h>

#include <array>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

constexpr std::array<std::string_view, 3> kFormats = {"folders", "cifar10", "cifar100"};

}  // namespace

std::string_view name_of(ImageFormat format) { return kFormats[static_cast<size_t>(format)]; }

ImageFormat parse_image_format(std::string_view name) {
  for (size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == name) return static_cast<ImageFormat>(i);
  }
  throw errors::InvalidArgument("'{}' is not a format of images; use {}.", name,
                                fmt::join(kFormats, ", "));
}

std::vector<std::string> image_format_names() { return {kFormats.begin(), kFormats.end()}; }

}  // namespace phi::data
