// Types by element width. Kernels that only move elements are compiled once per width, not once per
// dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace phi {

/// An opaque element of 16 bytes, such as complex128.
struct Bits128 {
  uint64_t low;
  uint64_t high;
  friend bool operator==(const Bits128&, const Bits128&) = default;
};

/// The unsigned integer (or Bits128) of T's width, for code that only moves T's bits.
template <typename T>
using width_t = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t,
                                          std::conditional_t<sizeof(T) == 8, uint64_t, Bits128>>>>;

/// Calls `f.template operator()<W>()` with the width_t of `width` bytes (1, 2, 4, 8 or 16).
template <typename F>
decltype(auto) visit_width(size_t width, F&& f) {
  switch (width) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    case 8:
      return f.template operator()<uint64_t>();
    default:
      return f.template operator()<Bits128>();
  }
}

}  // namespace phi
