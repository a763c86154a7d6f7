// Half precision: float16 (IEEE binary16) and bfloat16. Arithmetic converts them to float.
#pragma once

#include <bit>
#include <cstdint>

#include "phi/common/host_device.h"
#if defined(__F16C__) && !defined(__CUDACC__)
#define PHI_HAS_F16C_ 1
#endif

namespace phi {

namespace detail {
#ifdef __CUDA_ARCH__
// One instruction each, the same as in __half2float, __float2half_rn and __float2bfloat16_rn. A NaN
// loses its payload.
PHI_HD float half_to_float(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
PHI_HD uint16_t float_to_half(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
PHI_HD uint16_t float_to_bfloat(float value) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#else
#ifdef PHI_HAS_F16C_
// Equivalent to _cvtsh_ss and _cvtss_sh of <immintrin.h>, which is slow to parse; nearly every
// source includes this file.
using Halves = short __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(16)));
inline float half_to_float(uint16_t bits) {
  return __builtin_ia32_vcvtph2ps(Halves{static_cast<short>(bits)})[0];
}
inline uint16_t float_to_half(float value) {
  constexpr int kToNearest = 0;
  return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(Floats{value}, kToNearest)[0]);
}
#else
// Portable conversions by magic-number scaling. Half to float is exact for every finite value;
// float to half rounds to nearest even.
PHI_HD float half_to_float(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}
PHI_HD uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {  // subnormal: the float addition rounds
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000u);
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded - 0x38000000u) >> 13);
}
#endif
PHI_HD uint16_t float_to_bfloat(float value) {
  const uint32_t u = std::bit_cast<uint32_t>(value);
  const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
  return nan ? static_cast<uint16_t>((u >> 16) | 0x40u)
             : static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
#endif
#undef PHI_HAS_F16C_
}  // namespace detail

struct float16 {
  uint16_t bits = 0;
  float16() = default;
  explicit(false) PHI_HD float16(float value) : bits(detail::float_to_half(value)) {}
  explicit(false) PHI_HD operator float() const { return detail::half_to_float(bits); }
};

struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  explicit(false) PHI_HD bfloat16(float value) : bits(detail::float_to_bfloat(value)) {}
  explicit(false) PHI_HD operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

}  // namespace phi
