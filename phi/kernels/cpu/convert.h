// Arrays from one element type to another; 16-bit floats eight at a time where the CPU can.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

#ifdef __AVX2__
namespace detail {
/// What bfloat16's constructor makes of each, in 32 bits.
inline __m256i rounded_to_bfloat16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, quiet, is_nan);
}
}  // namespace detail
#endif

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
#ifdef __AVX2__
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, bfloat16>) {
    for (; i + 16 <= n; i += 16) {
      const __m256i low = detail::rounded_to_bfloat16(_mm256_loadu_ps(x + i));
      const __m256i high = detail::rounded_to_bfloat16(_mm256_loadu_ps(x + i + 8));
      const __m256i quarters = _mm256_packus_epi32(low, high);  // in order 0, 2, 1, 3
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                          _mm256_permute4x64_epi64(quarters, 0xd8));
    }
  }
#endif
#pragma GCC ivdep
  for (; i < n; ++i) out[i] = convert_value<To>(x[i]);
}

/// Elements that a loop over 16-bit floats converts at a time.
inline constexpr int64_t kConvertBlock = 256;

}  // namespace phi
