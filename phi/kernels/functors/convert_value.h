// One element from one type to another.
#pragma once

#include <cstdint>
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

template <typename To>
struct ConvertFunctor {
  template <typename From>
  PHI_HD To operator()(From x) const {
    return convert_value<To>(x);
  }
};

}  // namespace phi
