// Transposition of tiles of matrices, per element width.
#include "phi/kernels/cpu/transpose_matrix.h"

#include <algorithm>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace phi::detail {
namespace {

inline constexpr int64_t kTile = 32;  // both sides of a square tile stay in the L1 cache

#ifdef __AVX2__
// Transposes a square of elements in registers by interleaving rows: pairs, then quadruples, then
// halves. There is one specialisation per element width; kSide is the side of the square.
template <typename W>
struct Square {
  static constexpr int64_t kSide = 0;
};

template <>
struct Square<uint16_t> {
  static constexpr int64_t kSide = 8;
  static void transpose(const uint16_t* x, int64_t x_stride, uint16_t* out, int64_t out_stride) {
    __m128i row[8];
    __m128i pair[8];
    __m128i quad[8];
    for (int i = 0; i < 8; ++i) {
      row[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i * x_stride));
    }
    for (int i = 0; i < 8; i += 2) {
      pair[i] = _mm_unpacklo_epi16(row[i], row[i + 1]);
      pair[i + 1] = _mm_unpackhi_epi16(row[i], row[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
      quad[i] = _mm_unpacklo_epi32(pair[i], pair[i + 2]);
      quad[i + 1] = _mm_unpackhi_epi32(pair[i], pair[i + 2]);
      quad[i + 2] = _mm_unpacklo_epi32(pair[i + 1], pair[i + 3]);
      quad[i + 3] = _mm_unpackhi_epi32(pair[i + 1], pair[i + 3]);
    }
    for (int64_t i = 0; i < 4; ++i) {
      const auto to = reinterpret_cast<__m128i*>(out + 2 * i * out_stride);
      const auto next = reinterpret_cast<__m128i*>(out + (2 * i + 1) * out_stride);
      _mm_storeu_si128(to, _mm_unpacklo_epi64(quad[i], quad[i + 4]));
      _mm_storeu_si128(next, _mm_unpackhi_epi64(quad[i], quad[i + 4]));
    }
  }
};

template <>
struct Square<uint32_t> {
  static constexpr int64_t kSide = 8;
  static void transpose(const uint32_t* x, int64_t x_stride, uint32_t* out, int64_t out_stride) {
    __m256 pair[8];
    __m256 quad[8];
    for (int i = 0; i < 8; i += 2) {
      const __m256 a = _mm256_loadu_ps(reinterpret_cast<const float*>(x + i * x_stride));
      const __m256 b = _mm256_loadu_ps(reinterpret_cast<const float*>(x + (i + 1) * x_stride));
      pair[i] = _mm256_unpacklo_ps(a, b);
      pair[i + 1] = _mm256_unpackhi_ps(a, b);
    }
    for (int i = 0; i < 8; i += 4) {
      quad[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
      quad[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
      quad[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
      quad[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      const auto to = reinterpret_cast<float*>(out + i * out_stride);
      const auto lower = reinterpret_cast<float*>(out + (i + 4) * out_stride);
      _mm256_storeu_ps(to, _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x20));
      _mm256_storeu_ps(lower, _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x31));
    }
  }
};

template <>
struct Square<uint64_t> {
  static constexpr int64_t kSide = 4;
  static void transpose(const uint64_t* x, int64_t x_stride, uint64_t* out, int64_t out_stride) {
    __m256d pair[4];
    for (int i = 0; i < 4; i += 2) {
      const __m256d a = _mm256_loadu_pd(reinterpret_cast<const double*>(x + i * x_stride));
      const __m256d b = _mm256_loadu_pd(reinterpret_cast<const double*>(x + (i + 1) * x_stride));
      pair[i] = _mm256_unpacklo_pd(a, b);
      pair[i + 1] = _mm256_unpackhi_pd(a, b);
    }
    for (int i = 0; i < 2; ++i) {
      const auto to = reinterpret_cast<double*>(out + i * out_stride);
      const auto lower = reinterpret_cast<double*>(out + (i + 2) * out_stride);
      _mm256_storeu_pd(to, _mm256_permute2f128_pd(pair[i], pair[i + 2], 0x20));
      _mm256_storeu_pd(lower, _mm256_permute2f128_pd(pair[i], pair[i + 2], 0x31));
    }
  }
};
#else
template <typename W>
struct Square {
  static constexpr int64_t kSide = 0;
};
#endif

// Sets out[c * out_stride + r] = x[r * x_stride + c] for a tile of rows x columns.
template <typename W>
void transpose_tile(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                    int64_t columns) {
  int64_t square_rows = 0;  // extents covered by whole squares
  int64_t square_columns = 0;
  if constexpr (constexpr int64_t kSide = Square<W>::kSide; kSide > 0) {
    square_rows = rows / kSide * kSide;
    square_columns = columns / kSide * kSide;
    for (int64_t c = 0; c < square_columns; c += kSide) {
      for (int64_t r = 0; r < square_rows; r += kSide) {
        // Rows of out are pages apart, so their cache lines are prefetched before the stores.
        for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(out + (c + i) * out_stride + r, 1);
        Square<W>::transpose(x + r * x_stride + c, x_stride, out + c * out_stride + r, out_stride);
      }
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = c < square_columns ? square_rows : 0; r < rows; ++r) {
      out[c * out_stride + r] = x[r * x_stride + c];
    }
  }
}

// If x's rows are pages apart, they compete for the same lines of the L1 cache, which holds fewer
// of them than a tile has. Each row is therefore read once, whole.
template <typename W>
void transpose_far_rows(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                        int64_t columns) {
  W tile[kTile * kTile];
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(tile + r * kTile, x + r * x_stride, static_cast<size_t>(columns) * sizeof(W));
  }
  transpose_tile(tile, kTile, out, out_stride, rows, columns);
}

}  // namespace

template <typename W>
void transpose_words(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                     int64_t columns) {
  constexpr size_t kFar = 2048;  // bytes
  const bool is_far = static_cast<size_t>(x_stride) * sizeof(W) % kFar == 0;
  const auto tile = is_far ? transpose_far_rows<W> : transpose_tile<W>;
  for (int64_t r = 0; r < rows; r += kTile) {
    for (int64_t c = 0; c < columns; c += kTile) {
      tile(x + r * x_stride + c, x_stride, out + c * out_stride + r, out_stride,
           std::min(kTile, rows - r), std::min(kTile, columns - c));
    }
  }
}

#define AUTOPHI_TRANSPOSES(W) \
  template void transpose_words(const W*, int64_t, W*, int64_t, int64_t, int64_t)
AUTOPHI_TRANSPOSES(uint8_t);
AUTOPHI_TRANSPOSES(uint16_t);
AUTOPHI_TRANSPOSES(uint32_t);
AUTOPHI_TRANSPOSES(uint64_t);
AUTOPHI_TRANSPOSES(Bits128);
#undef AUTOPHI_TRANSPOSES

}  // namespace phi::detail
