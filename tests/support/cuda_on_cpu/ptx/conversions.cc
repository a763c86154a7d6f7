// cvt: conversions between number types.
#include <cmath>
#include <limits>

#include "phi/common/half.h"
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

template <class T>
struct Named {
  using Type = T;
  const char* name;
};
constexpr std::tuple kIntegers{
    Named<int8_t>{"s8"},  Named<int16_t>{"s16"},  Named<int32_t>{"s32"},  Named<int64_t>{"s64"},
    Named<uint8_t>{"u8"}, Named<uint16_t>{"u16"}, Named<uint32_t>{"u32"}, Named<uint64_t>{"u64"}};
constexpr std::tuple kFloats{Named<float>{"f32"}, Named<double>{"f64"}};

template <class Body>
void for_each(const auto& types, Body body) {
  std::apply([&](const auto&... type) { (body(type), ...); }, types);
}

std::string cvt(const std::string& how, const std::string& to, const std::string& from) {
  return "cvt" + how + "." + to + "." + from;
}

// Saturating conversion. NaN becomes 0 or, if a type has 64 bits, the value with only the top bit
// set.
template <class To, class From>
To to_integer(From whole) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(whole)) {
    const bool wide = sizeof(From) == 8 || sizeof(To) == 8;
    return wide ? static_cast<To>(uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
  }
  if (whole <= static_cast<From>(Limits::min())) return Limits::min();
  // 2^n is a float, the largest number need not be.
  if (whole >= std::ldexp(From{1}, Limits::digits)) return Limits::max();
  return static_cast<To>(whole);
}

template <class T>
T saturated(T value) {
  return std::isnan(value) || value < 0 ? T{0} : value > 1 ? T{1} : value;
}

template <class From>
void add_from_float(Rows& rows, const std::string& from) {
  for_each(kIntegers, [&]<class To>(const Named<To>& to) {
    rows[cvt(".rni", to.name, from)] =
        computes<[](From a) { return to_integer<To, From>(std::nearbyint(a)); }>();
    rows[cvt(".rzi", to.name, from)] =
        computes<[](From a) { return to_integer<To, From>(std::trunc(a)); }>();
    rows[cvt(".rmi", to.name, from)] =
        computes<[](From a) { return to_integer<To, From>(std::floor(a)); }>();
    rows[cvt(".rpi", to.name, from)] =
        computes<[](From a) { return to_integer<To, From>(std::ceil(a)); }>();
  });
  rows[cvt(".rni", from, from)] = computes<[](From a) { return std::nearbyint(a); }>();
  rows[cvt(".rzi", from, from)] = computes<[](From a) { return std::trunc(a); }>();
  rows[cvt(".rmi", from, from)] = computes<[](From a) { return std::floor(a); }>();
  rows[cvt(".rpi", from, from)] = computes<[](From a) { return std::ceil(a); }>();
  rows[cvt(".sat", from, from)] = computes<[](From a) { return saturated<From>(a); }>();
}

uint32_t pair(uint16_t high, uint16_t low) { return uint32_t{high} << 16 | low; }

}  // namespace

void add_conversions(Rows& rows) {
  for_each(kIntegers, [&]<class From>(const Named<From>& from) {
    for_each(kIntegers, [&]<class To>(const Named<To>& to) {
      rows[cvt("", to.name, from.name)] = computes<[](From a) { return static_cast<To>(a); }>();
    });
    for_each(kFloats, [&]<class To>(const Named<To>& to) {
      rows[cvt(".rn", to.name, from.name)] = computes<[](From a) { return static_cast<To>(a); }>();
    });
  });
  add_from_float<float>(rows, "f32");
  add_from_float<double>(rows, "f64");
  rows["cvt.f64.f32"] = computes<[](float a) { return double{a}; }>();
  rows["cvt.rn.f32.f64"] = computes<[](double a) { return static_cast<float>(a); }>();
  rows["cvt.f32.f16"] = computes<[](uint16_t a) { return phi::detail::half_to_float(a); }>();
  rows["cvt.rn.f16.f32"] = computes<[](float a) { return phi::detail::float_to_half(a); }>();
  rows["cvt.rn.bf16.f32"] = computes<[](float a) { return phi::detail::float_to_bfloat(a); }>();
  rows["cvt.rn.f16x2.f32"] = computes<[](float high, float low) {
    return pair(phi::detail::float_to_half(high), phi::detail::float_to_half(low));
  }>();
  rows["cvt.rn.bf16x2.f32"] = computes<[](float high, float low) {
    return pair(phi::detail::float_to_bfloat(high), phi::detail::float_to_bfloat(low));
  }>();
}

}  // namespace cuda_on_cpu::ptx
