// Conversion of one element to another type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// x without its fraction as int32 or int64. Values outside the range, infinities included, become
/// the nearest limit; NaN becomes 0.
template <typename To, typename From>
PHI_HD To truncated(From x) {
  constexpr From kLimit = From(0x1p30) * From(sizeof(To) == 8 ? 0x1p33 : 2);  // max() + 1
  const bool is_above = x >= kLimit;
  const From least = x >= -kLimit ? x : -kLimit;  // -kLimit for NaN too
  const To inside = static_cast<To>(is_above ? From(0) : least);
  const To value = is_above ? std::numeric_limits<To>::max() : inside;
  return x == x ? value : To(0);
}

/// Converts `x` to another type:
/// - a float to an integer: truncated; out of range to the nearest limit; NaN to 0. To 8 and 16
///   bits it goes through int32, so that negative numbers wrap around;
/// - an integer to an integer: its low bits;
/// - any number to bool: x != 0;
/// - a complex number to a real one: its real part.
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

template <typename To>
struct ConvertFunctor {
  template <typename From>
  PHI_HD To operator()(From x) const {
    return convert_value<To>(x);
  }
};

}  // namespace phi
