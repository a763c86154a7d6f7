// Conversions between half precision and float, with the program's base instruction set and with
// AVX-512, including its bfloat16 instructions if the machine has them.
#include "phi/kernels/cpu/convert.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "phi/kernels/cpu/loop_isa.h"

namespace phi {
namespace {

template <typename From, typename To>
void convert_rest(const From* x, To* out, int64_t i, int64_t n) {
  for (; i < n; ++i) out[i] = To(static_cast<float>(x[i]));
}

#ifdef __AVX2__
/// Rounds each number that is not NaN like bfloat16's constructor, into the low half of 32 bits.
inline __m256i rounded_numbers(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  return _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
}

/// The same for any number, including NaN.
inline __m256i rounded_to_bfloat16(__m256 x) {
  const __m256i upper = _mm256_srli_epi32(_mm256_castps_si256(x), 16);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded_numbers(x), quiet, is_nan);
}
#endif

void narrow(const float16* x, float* out, int64_t n) {
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
  }
#endif
  convert_rest(x, out, i, n);
}

void narrow(const bfloat16* x, float* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i]);
}

void narrow(const float* x, float16* out, int64_t n) {
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), bits);
  }
#endif
  convert_rest(x, out, i, n);
}

void narrow(const float* x, bfloat16* out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX2__
  for (; i + 16 <= n; i += 16) {
    const __m256 low = _mm256_loadu_ps(x + i);
    const __m256 high = _mm256_loadu_ps(x + i + 8);
    const bool has_nan = _mm256_movemask_ps(_mm256_cmp_ps(low, high, _CMP_UNORD_Q)) != 0;
    const __m256i quarters =  // in order 0, 2, 1, 3
        has_nan ? _mm256_packus_epi32(rounded_to_bfloat16(low), rounded_to_bfloat16(high))
                : _mm256_packus_epi32(rounded_numbers(low), rounded_numbers(high));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_permute4x64_epi64(quarters, 0xd8));
  }
#endif
  convert_rest(x, out, i, n);
}

#ifdef __x86_64__
constexpr int64_t kWide = 16;  // floats per register; the remainder is masked

inline __mmask16 rest_mask(int64_t rest) { return static_cast<__mmask16>((1u << rest) - 1u); }

PHI_AVX512_TARGET inline __m512 widened(const float16*, __m256i bits) {
  return _mm512_cvtph_ps(bits);
}
PHI_AVX512_TARGET inline __m512 widened(const bfloat16*, __m256i bits) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

template <typename T>
PHI_AVX512_TARGET void wide(const T* x, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + kWide <= n; i += kWide) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    _mm512_storeu_ps(out + i, widened(x, bits));
  }
  if (i == n) return;
  const __mmask16 mask = rest_mask(n - i);
  _mm512_mask_storeu_ps(out + i, mask, widened(x, _mm256_maskz_loadu_epi16(mask, x + i)));
}

PHI_AVX512_TARGET void wide(const float* x, float16* out, int64_t n) {
  int64_t i = 0;
  for (; i + kWide <= n; i += kWide) {
    const __m256i bits = _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), bits);
  }
  if (i == n) return;
  const __mmask16 mask = rest_mask(n - i);
  const __m512 value = _mm512_maskz_loadu_ps(mask, x + i);
  _mm256_mask_storeu_epi16(out + i, mask, _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}

/// Rounds each number that is not NaN like bfloat16's constructor, into the upper half.
PHI_AVX512_TARGET inline __m512i rounded_numbers(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
  return _mm512_mask_add_epi32(rounded, is_odd, bits, _mm512_set1_epi32(0x8000));
}

/// The same for any number, including NaN.
PHI_AVX512_TARGET inline __m512i rounded_to_bfloat16(__m512 x) {
  const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(rounded_numbers(x), is_nan, _mm512_castps_si512(x),
                              _mm512_set1_epi32(0x400000));
}

PHI_AVX512_TARGET inline __m512i upper_halves(__m512i low, __m512i high) {
  const __m512i odd_places =
      _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27,
                       25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return _mm512_permutex2var_epi16(low, odd_places, high);
}

PHI_AVX512_TARGET inline __m512i all_rounded(__m512 low, __m512 high) {
  return upper_halves(rounded_to_bfloat16(low), rounded_to_bfloat16(high));
}

PHI_AVX512_TARGET void wide(const float* x, bfloat16* out, int64_t n) {
  int64_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide) {
    const __m512 low = _mm512_loadu_ps(x + i);
    const __m512 high = _mm512_loadu_ps(x + i + kWide);
    const bool has_nan = _mm512_cmp_ps_mask(low, high, _CMP_UNORD_Q) != 0;
    _mm512_storeu_si512(out + i, has_nan
                                     ? all_rounded(low, high)
                                     : upper_halves(rounded_numbers(low), rounded_numbers(high)));
  }
  for (; i < n; i += kWide) {
    const __mmask16 mask = n - i >= kWide ? __mmask16(0xffff) : rest_mask(n - i);
    const __m512i bits = rounded_to_bfloat16(_mm512_maskz_loadu_ps(mask, x + i));
    _mm256_mask_storeu_epi16(out + i, mask, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
  }
}

/// The instruction treats subnormal numbers as 0.
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]] void native(const float* x,
                                                                             bfloat16* out,
                                                                             int64_t n) {
  constexpr int kSubnormal = 0x20;
  int64_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide) {
    const __m512 low = _mm512_loadu_ps(x + i);
    const __m512 high = _mm512_loadu_ps(x + i + kWide);
    const bool has_subnormal = !_mm512_kortestz(_mm512_fpclass_ps_mask(low, kSubnormal),
                                                _mm512_fpclass_ps_mask(high, kSubnormal));
    _mm512_storeu_si512(out + i, has_subnormal
                                     ? all_rounded(low, high)
                                     : reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  wide(x + i, out + i, n - i);
}
#else
template <typename From, typename To>
void wide(const From* x, To* out, int64_t n) {
  narrow(x, out, n);
}
void native(const float* x, bfloat16* out, int64_t n) { narrow(x, out, n); }
#endif

template <typename From, typename To>
void convert_either(const From* x, To* out, int64_t n) {
  has_avx512() ? wide(x, out, n) : narrow(x, out, n);
}

}  // namespace

namespace detail {
void convert_16bit(const float16* x, float* out, int64_t n) { convert_either(x, out, n); }
void convert_16bit(const bfloat16* x, float* out, int64_t n) { convert_either(x, out, n); }
void convert_16bit(const float* x, float16* out, int64_t n) { convert_either(x, out, n); }
void convert_16bit(const float* x, bfloat16* out, int64_t n) {
  loop_isa() == LoopIsa::kAvx512Bf16 ? native(x, out, n) : convert_either(x, out, n);
}
}  // namespace detail

}  // namespace phi
