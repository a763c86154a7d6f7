// Small matmuls in blocks of a few rows and two vectors of columns, whose sums stay in registers.
#include "phi/kernels/cpu/matmul/small_gemm.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "phi/kernels/cpu/lanes.h"
#include "phi/kernels/cpu/transpose_matrix.h"

namespace phi::detail {
namespace {

constexpr int64_t kMostWork = int64_t{1} << 17;
constexpr int64_t kLeastFloatWork = 8192;  // up to it OpenBLAS is faster, unless y is transposed
constexpr int64_t kMostPacked = 4096;      // most elements of op(b)

template <typename T, int L>
int64_t padded(int64_t n) {
  return (n + L - 1) / L * L;
}

template <typename T, int L>
bool fits(const GemmShape& s) {
  const int64_t work = s.m * s.n * s.k, width = padded<T, L>(s.n);
  const bool is_quicker = s.trans_b || (std::is_same_v<T, float> && work > kLeastFloatWork);
  return is_quicker && work <= kMostWork && width * s.k <= kMostPacked && 2 * s.n >= width;
}

template <typename T, int L>
class SmallGemm {
 public:
  using V = Lanes<T, L>;
  static constexpr int kRows = L > kLanes<T> ? 8 : 6;  // uses most of 32 registers, or of 16

  SmallGemm(const GemmShape& s, T alpha, const T* a, int64_t lda, T beta, T* c, int64_t ldc)
      : s_(s),
        alpha_(alpha),
        beta_(beta),
        a_(a),
        a_row_(s.trans_a ? 1 : lda),
        a_column_(s.trans_a ? lda : 1),
        c_(c),
        ldc_(ldc) {}

  PHI_LANES void run(const T* b, int64_t ldb) const {
    alignas(64) std::array<T, kMostPacked> packed;
    if (s_.trans_b || s_.n % L != 0) {
      pack(b, ldb, packed.data());
      b = packed.data();
      ldb = padded<T, L>(s_.n);
    }
    for (int64_t j = 0; j < s_.n; j += 2 * L) {
      j + L < s_.n ? columns<2>(b + j, ldb, j) : columns<1>(b + j, ldb, j);
    }
  }

 private:
  /// Packs op(b) in rows of whole vectors.
  PHI_LANES void pack(const T* b, int64_t ldb, T* packed) const {
    const int64_t width = padded<T, L>(s_.n);
    if (width != s_.n) std::fill_n(packed, width * s_.k, T(0));
    if (s_.trans_b) return transpose_matrix(b, ldb, packed, width, s_.n, s_.k);
    for (int64_t p = 0; p < s_.k; ++p) std::copy_n(b + p * ldb, s_.n, packed + p * width);
  }

  /// Computes kVectors vectors of columns from column j on.
  template <int kVectors>
  PHI_LANES void columns(const T* b, int64_t ldb, int64_t j) const {
    int64_t i = 0;
    for (; i + kRows <= s_.m; i += kRows) block<kRows, kVectors>(b, ldb, i, j);
    last_rows<kRows - 1, kVectors>(b, ldb, i, j);
  }
  template <int kMost, int kVectors>
  PHI_LANES void last_rows(const T* b, int64_t ldb, int64_t i, int64_t j) const {
    if constexpr (kMost > 0) {
      if (s_.m - i == kMost) return block<kMost, kVectors>(b, ldb, i, j);
      last_rows<kMost - 1, kVectors>(b, ldb, i, j);
    }
  }
  template <int kCount, int kVectors>
  PHI_LANES void block(const T* b, int64_t ldb, int64_t i, int64_t j) const {
    V sums[kCount][kVectors];
    const T* a = a_ + i * a_row_;
    for (int64_t p = 0; p < s_.k; ++p, a += a_column_, b += ldb) {
      V right[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) right[v] = V::at(b + v * L);
#pragma GCC unroll 8
      for (int r = 0; r < kCount; ++r) {
        const V left(a[r * a_row_]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[r][v] += left * right[v];
      }
    }
    if (beta_ == T(0) && j + kVectors * L <= s_.n) {
      put(sums, c_ + i * ldc_ + j, ldc_);
    } else {
      T rows[kCount * kVectors * L];
      put(sums, rows, kVectors * L);
      add_rows(rows, kCount, kVectors * L, i, j);
    }
  }
  template <int kCount, int kVectors>
  PHI_LANES void put(const V (&sums)[kCount][kVectors], T* to, int64_t row) const {
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) (sums[r][v] * V(alpha_)).put(to + r * row + v * L);
    }
  }
  /// Stores rows that end within a vector or are added to c. Not inlined, so that all blocks share
  /// it.
  [[gnu::noinline]] void add_rows(const T* rows, int count, int width, int64_t i, int64_t j) const {
    const int64_t most = std::min<int64_t>(width, s_.n - j);
    for (int r = 0; r < count; ++r) {
      const T* const row = rows + r * width;
      T* const to = c_ + (i + r) * ldc_ + j;
      for (int64_t l = 0; l < most; ++l) to[l] = row[l] + (beta_ == T(0) ? 0 : beta_ * to[l]);
    }
  }

  GemmShape s_;
  T alpha_, beta_;
  const T* a_;
  int64_t a_row_, a_column_;
  T* c_;
  int64_t ldc_;
};

template <typename T, int L>
void run(const GemmShape& shape, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta,
         T* c, int64_t ldc) {
  const SmallGemm<T, L> product(shape, alpha, a, lda, beta, c, ldc);
  run_in_lanes<T, L>([&product, b, ldb] { product.run(b, ldb); });
}

}  // namespace

template <typename T>
bool is_small_gemm(const GemmShape& shape) {
  return has_avx512() ? fits<T, kWideLanes<T>>(shape) : fits<T, kLanes<T>>(shape);
}

template <typename T>
void small_gemm(const GemmShape& shape, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                T beta, T* c, int64_t ldc) {
  (has_avx512() ? run<T, kWideLanes<T>> : run<T, kLanes<T>>)(shape, alpha, a, lda, b, ldb, beta, c,
                                                             ldc);
}

#define PHI_INSTANTIATE(T)                                                                   \
  template bool is_small_gemm<T>(const GemmShape&);                                          \
  template void small_gemm(const GemmShape&, T, const T*, int64_t, const T*, int64_t, T, T*, \
                           int64_t)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
#undef PHI_INSTANTIATE

}  // namespace phi::detail
