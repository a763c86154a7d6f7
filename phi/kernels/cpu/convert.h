// Conversion of arrays between element types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

namespace detail {
/// Convert half-precision arrays to float and back, in the machine's widest registers (convert.cc).
void convert_16bit(const float16* x, float* out, int64_t n);
void convert_16bit(const bfloat16* x, float* out, int64_t n);
void convert_16bit(const float* x, float16* out, int64_t n);
void convert_16bit(const float* x, bfloat16* out, int64_t n);
}  // namespace detail

/// Number of elements that a loop over half-precision arrays converts at a time.
inline constexpr int64_t kConvertBlock = 512;

/// out[i] = x[i] for n elements; the arrays must not overlap.
template <typename From, typename To>
inline void convert(const From* x, To* out, int64_t n) {
  if constexpr (std::is_same_v<From, To>) {
    if (n > 0) std::memcpy(out, x, static_cast<size_t>(n) * sizeof(To));
  } else if constexpr ((kIs16Bit<From> && std::is_same_v<To, float>) ||
                       (std::is_same_v<From, float> && kIs16Bit<To>)) {
    detail::convert_16bit(x, out, n);
  } else if constexpr (kIs16Bit<From> || kIs16Bit<To>) {
    // Converts through float, as convert_value does, but in blocks: g++ does not vectorise loops
    // that convert element by element.
    float block[kConvertBlock];
    for (int64_t begin = 0; begin < n; begin += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, n - begin);
      convert(x + begin, block, count);
      convert(block, out + begin, count);
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = convert_value<To>(x[i]);
  }
}

}  // namespace phi
