// CPU kernel of transpose.
#include <algorithm>
#include <cstring>
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/element_width.h"
#include "phi/kernels/cpu/strided_walk.h"
#include "phi/kernels/shape_kernel.h"

namespace phi {
namespace {

constexpr int64_t kTile = 32;  // square tiles: both sides stay in the first cache

// out[c * out_stride + r] = x[r * x_stride + c] for a tile of rows x columns.
template <typename W>
void transpose_tile(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                    int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) out[c * out_stride + r] = x[r * x_stride + c];
  }
}

#ifdef __AVX__
// 8 x 8 elements of 4 bytes in registers: interleave pairs, then quadruples, then halves.
void transpose_8x8(const float* x, int64_t x_stride, float* out, int64_t out_stride) {
  __m256 pair[8];
  __m256 quad[8];
  for (int i = 0; i < 8; i += 2) {
    const __m256 a = _mm256_loadu_ps(x + i * x_stride);
    const __m256 b = _mm256_loadu_ps(x + (i + 1) * x_stride);
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
    _mm256_storeu_ps(out + i * out_stride, _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x20));
    _mm256_storeu_ps(out + (i + 4) * out_stride,
                     _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x31));
  }
}

template <>
void transpose_tile(const uint32_t* x, int64_t x_stride, uint32_t* out, int64_t out_stride,
                    int64_t rows, int64_t columns) {
  const int64_t whole_rows = rows / 8 * 8;
  const int64_t whole_columns = columns / 8 * 8;
  for (int64_t c = 0; c < whole_columns; c += 8) {
    for (int64_t r = 0; r < whole_rows; r += 8) {
      transpose_8x8(reinterpret_cast<const float*>(x + r * x_stride + c), x_stride,
                    reinterpret_cast<float*>(out + c * out_stride + r), out_stride);
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r) {
      out[c * out_stride + r] = x[r * x_stride + c];
    }
  }
}
#endif

template <typename W>
void transpose_matrix(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                      int64_t columns) {
  for (int64_t r = 0; r < rows; r += kTile) {
    for (int64_t c = 0; c < columns; c += kTile) {
      transpose_tile(x + r * x_stride + c, x_stride, out + c * out_stride + r, out_stride,
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

template <typename W>
void transpose(const W* x, W* out, StridedWalk<2> walk) {
  if (walk.ndim() == 0) {
    *out = *x;
    return;
  }
  const int last = walk.ndim() - 1;
  if (walk.stride(last, 0) == 1) {  // whole rows move
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

}  // namespace

template <typename T>
void TransposeKernel(const CpuContext&, const DenseTensor& x, const std::vector<int>& perm,
                     DenseTensor* out) {
  using W = width_t<T>;
  if (x.numel() == 0) return;
  transpose(static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()),
            loops_of(x.dims(), perm, out->dims()));
}

PHI_REGISTER_KERNEL(transpose, CPU, TransposeKernel, bool, uint8_t, int32_t, int64_t, float16,
                    bfloat16, float, double);

}  // namespace phi
