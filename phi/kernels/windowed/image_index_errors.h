// Errors for positions outside of their image, shared by all devices.
#pragma once

#include <cstdint>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {

/// Reports that `name` has `place` at flat position `position`, but the image has `size` elements.
[[noreturn]] inline void throw_outside_image(std::string_view name, int64_t place, int64_t position,
                                             int64_t size) {
  throw errors::InvalidArgument(
      "{} holds {} at flat position {}, but the image that it indexes has {} elements; it must be "
      "in [0, {}).",
      name, place, position, size, size);
}

/// The same for a position on another rank.
[[noreturn]] inline void throw_outside_image_elsewhere() {
  throw errors::InvalidArgument(
      "indices holds a position outside its image on another rank, whose message names it.");
}

}  // namespace phi
