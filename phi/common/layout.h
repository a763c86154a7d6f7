// DataLayout: the meaning of tensor dims (NCHW, NHWC) for ops that depend on it. Arrays are
// row-major in every layout.
#pragma once

#include <cstdint>

namespace phi {

enum class DataLayout : uint8_t { UNDEFINED = 0, ANY, NCHW, NHWC };

constexpr const char* name_of(DataLayout layout) {
  constexpr const char* names[] = {"undefined", "any", "NCHW", "NHWC"};
  return names[static_cast<int>(layout)];
}

}  // namespace phi
