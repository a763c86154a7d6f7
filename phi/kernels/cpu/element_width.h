// Kernels that only move elements are compiled once per element width, not once per dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace phi {

/// The unsigned integer as wide as T.
template <typename T>
using width_t =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// Calls `f.template operator()<W>()` with the unsigned integer of `width` bytes (1, 2, 4 or 8).
template <typename F>
decltype(auto) visit_width(size_t width, F&& f) {
  switch (width) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    default:
      return f.template operator()<uint64_t>();
  }
}

}  // namespace phi
