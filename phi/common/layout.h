// Data layouts. Kernels here take row-major arrays whatever the name; NCHW/NHWC say which tensor
// dim means what to ops that care.
#pragma once

#include <cstdint>

namespace phi {

enum class DataLayout : uint8_t { UNDEFINED = 0, ANY, NCHW, NHWC };

constexpr const char* name_of(DataLayout layout) {
  constexpr const char* names[] = {"undefined", "any", "NCHW", "NHWC"};
  return names[static_cast<int>(layout)];
}

}  // namespace phi
