// CPU kernel of transpose.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/shape.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/strided_walk.h"
#include "phi/kernels/element_width.h"
namespace phi {
namespace {

constexpr int64_t kTile = 32;  // square tiles: both sides stay in the first cache

#ifdef __AVX2__
// A square of elements in registers, by interleaving rows: pairs, then quadruples, then halves.
// There is one per element width; kSide is the side of the square.
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

// out[c * out_stride + r] = x[r * x_stride + c] for a tile of rows x columns.
template <typename W>
void transpose_tile(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                    int64_t columns) {
  int64_t square_rows = 0;  // what whole squares cover
  int64_t square_columns = 0;
  if constexpr (constexpr int64_t kSide = Square<W>::kSide; kSide > 0) {
    square_rows = rows / kSide * kSide;
    square_columns = columns / kSide * kSide;
    for (int64_t c = 0; c < square_columns; c += kSide) {
      for (int64_t r = 0; r < square_rows; r += kSide) {
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

// Rows of x that lie pages apart share the lines of a first cache, which holds fewer of them than a
// tile has: they are read once, whole.
template <typename W>
void transpose_far_rows(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                        int64_t columns) {
  W tile[kTile * kTile];
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(tile + r * kTile, x + r * x_stride, static_cast<size_t>(columns) * sizeof(W));
  }
  transpose_tile(tile, kTile, out, out_stride, rows, columns);
}

template <typename W>
void transpose_matrix(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
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

// The loops over out in row-major order; offset 0 is into x, 1 into out.
StridedWalk<2> loops_of(const Dims& x_dims, const std::vector<int>& perm, const Dims& out_dims) {
  const Dims x_strides = x_dims.strides();
  const Dims out_strides = out_dims.strides();
  StridedWalk<2> walk;
  for (int d = 0; d < out_dims.ndim(); ++d) {
    const int from = normalise_axis(perm[d], x_dims.ndim(), x_dims, "perm");
    walk.append(out_dims[d], {x_strides[from], out_strides[d]});
  }
  return walk;
}

/// Rows of 2, 4, 8 or 16 bytes are elements themselves; false for others.
template <typename W>
bool transpose_short_rows(const W* x, W* out, const StridedWalk<2>& walk);

template <typename W>
void transpose(const W* x, W* out, StridedWalk<2> walk) {
  if (walk.ndim() == 0) {
    *out = *x;
    return;
  }
  const int last = walk.ndim() - 1;
  if (walk.stride(last, 0) == 1) {  // whole rows move
    if (transpose_short_rows(x, out, walk)) return;
    const size_t row_bytes = static_cast<size_t>(walk.size(last)) * sizeof(W);
    walk.remove(last);
    walk.for_each(
        [&](const std::array<int64_t, 2>& at) { std::memcpy(out + at[1], x + at[0], row_bytes); });
    return;
  }
  // A matrix of x's contiguous tensor dim by out's, inside the other loops.
  int contiguous = 0;
  while (walk.stride(contiguous, 0) != 1) ++contiguous;
  const int64_t rows = walk.size(last);
  const int64_t x_stride = walk.stride(last, 0);
  const int64_t columns = walk.size(contiguous);
  const int64_t out_stride = walk.stride(contiguous, 1);
  walk.remove(last);
  walk.remove(contiguous);
  walk.for_each([&](const std::array<int64_t, 2>& at) {
    transpose_matrix(x + at[0], x_stride, out + at[1], out_stride, rows, columns);
  });
}

template <typename W>
bool transpose_short_rows(const W* x, W* out, const StridedWalk<2>& walk) {
  const int last = walk.ndim() - 1;
  const int64_t row = walk.size(last);
  const size_t row_bytes = static_cast<size_t>(row) * sizeof(W);
  if (row_bytes > sizeof(Bits128) || !std::has_single_bit(row_bytes)) return false;
  return visit_width(row_bytes, [&]<typename Row>() {
    const auto places = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(out);
    if (places % alignof(Row) != 0) return false;
    StridedWalk<2> rows;
    for (int d = 0; d < last; ++d) {
      rows.append(walk.size(d), {walk.stride(d, 0) / row, walk.stride(d, 1) / row});
    }
    transpose(reinterpret_cast<const Row*>(x), reinterpret_cast<Row*>(out), rows);
    return true;
  });
}

}  // namespace

template <typename T, typename Context>
void TransposeKernel(const Context&, const DenseTensor& x, const std::vector<int>& perm,
                     DenseTensor* out) {
  using W = width_t<T>;
  if (x.numel() == 0) return;
  transpose(static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()),
            loops_of(x.dims(), perm, out->dims()));
}

PHI_REGISTER_KERNEL(transpose, CPU, TransposeKernel, EveryType);

}  // namespace phi
