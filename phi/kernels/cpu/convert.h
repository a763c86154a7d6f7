// Arrays from one element type to another.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// x without its fraction, as an int32 or int64: the nearest one for what lies outside (infinities
/// too), 0 for NaN.
template <typename To, typename From>
PHI_HD To truncated(From x) {
  constexpr From kLimit = From(0x1p30) * From(sizeof(To) == 8 ? 0x1p33 : 2);  // max() + 1
  const bool is_above = x >= kLimit;
  const From least = x >= -kLimit ? x : -kLimit;  // of NaN too
  const To inside = static_cast<To>(is_above ? From(0) : least);
  const To value = is_above ? std::numeric_limits<To>::max() : inside;
  return x == x ? value : To(0);
}

/// The value of `x` in another type: floats are truncated to integers (out of range to the nearest,
/// NaN to 0; to narrower ones by way of int32, so that negative numbers wrap around), integers keep
/// their low bits, bool is x != 0, complex numbers lose their imaginary part.
template <typename To, typename From>
PHI_HD To convert_value(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  } else if constexpr (kIsComplex<From> && std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsComplex<From>) {
    return convert_value<To>(x.real());
  } else if constexpr (kIsComplex<To>) {
    return To(convert_value<typename To::value_type>(x));
  } else if constexpr (kIs16Bit<From>) {
    return convert_value<To>(static_cast<float>(x));
  } else if constexpr (kIs16Bit<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && sizeof(To) < 4 && std::is_integral_v<To>) {
    return static_cast<To>(truncated<int32_t>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

namespace detail {
/// Arrays of 16-bit floats to float's and back, in the machine's widest registers (convert.cc).
void convert_16bit(const float16* x, float* out, int64_t n);
void convert_16bit(const bfloat16* x, float* out, int64_t n);
void convert_16bit(const float* x, float16* out, int64_t n);
void convert_16bit(const float* x, bfloat16* out, int64_t n);
}  // namespace detail

/// out[i] = x[i] for n elements; the arrays must not overlap.
template <typename From, typename To>
inline void convert(const From* x, To* out, int64_t n) {
  if constexpr (std::is_same_v<From, To>) {
    if (n > 0) std::memcpy(out, x, static_cast<size_t>(n) * sizeof(To));
  } else if constexpr ((kIs16Bit<From> && std::is_same_v<To, float>) ||
                       (std::is_same_v<From, float> && kIs16Bit<To>)) {
    detail::convert_16bit(x, out, n);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = convert_value<To>(x[i]);
  }
}

/// Elements that a loop over 16-bit floats converts at a time.
inline constexpr int64_t kConvertBlock = 256;

}  // namespace phi
