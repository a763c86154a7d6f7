// Arrays from one element type to another; 16-bit floats eight at a time where the CPU can.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "phi/common/half.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// The value of `x` in another type: floats are truncated to integers, bool is x != 0.
template <typename To, typename From>
PHI_HD To convert_value(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIs16Bit<From>) {
    return convert_value<To>(static_cast<float>(x));
  } else if constexpr (kIs16Bit<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint8_t>) {
    return static_cast<uint8_t>(static_cast<int32_t>(x));  // so that negative numbers wrap around
  } else {
    return static_cast<To>(x);
  }
}

/// out[i] = x[i] for n elements; the arrays must not overlap.
template <typename From, typename To>
inline void convert(const From* x, To* out, int64_t n) {
  int64_t i = 0;
  if constexpr (std::is_same_v<From, To>) {
    if (n > 0) std::memcpy(out, x, static_cast<size_t>(n) * sizeof(To));
    return;
  }
#ifdef __F16C__
  if constexpr (std::is_same_v<From, float16> && std::is_same_v<To, float>) {
    for (; i + 8 <= n; i += 8) {
      const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
    }
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, float16>) {
    for (; i + 8 <= n; i += 8) {
      const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), bits);
    }
  }
#endif
#pragma GCC ivdep
  for (; i < n; ++i) out[i] = convert_value<To>(x[i]);
}

/// Elements that a loop over 16-bit floats converts at a time.
inline constexpr int64_t kConvertBlock = 256;

}  // namespace phi
