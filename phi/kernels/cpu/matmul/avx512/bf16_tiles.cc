// bfloat16 blocks on AMX (TDPBF16PS) or AVX-512 (VDPBF16PS). Compiled with those instructions. It
// must therefore not include inline functions that other files share, and runs only on machines for
// which best_isa() selects it.
#include "phi/kernels/cpu/matmul/bf16_tiles.h"

#include <immintrin.h>

#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi::bf16_tiles {
namespace {

// A block of a stays in the L2 cache next to a panel of b.
constexpr int64_t kLeftElements = int64_t{256} << 10;
// From this many columns on, packing a costs less than loading its tiles from distant rows.
constexpr int64_t kPackedColumns = 768;

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

__mmask32 first(int64_t n) { return n >= 32 ? ~0U : (1U << (n > 0 ? n : 0)) - 1; }

/// Transposes 16 x 16 words of 32 bits.
void transpose(__m512i* r) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {  // 4 x 4 words are done; now the 128-bit lanes
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

__m512i load_row(const bfloat16* row, bool exists, __mmask32 mask) {
  return exists ? _mm512_maskz_loadu_epi16(mask, row) : _mm512_setzero_si512();
}

/// Loads a tile with one row per vector.
void load_vectors(const bfloat16* from, int64_t ld, int64_t vectors, int64_t steps, __m512i* rows) {
  const __mmask32 mask = first(steps);
  for (int64_t i = 0; i < kVectors; ++i) rows[i] = load_row(from + i * ld, i < vectors, mask);
}

/// Loads two tiles with one row per pair of steps, from 32 steps of 32 vectors, so that whole cache
/// lines are read.
void load_pairs(const bfloat16* from, int64_t ld, int64_t vectors, int64_t steps, __m512i* rows) {
  const __mmask32 mask = first(vectors);
  const __m512i one = _mm512_set1_epi32(0x0020'0000);  // element i of the 1st, i of the 2nd row
  const __m512i low = _mm512_add_epi32(
      one,
      _mm512_mullo_epi32(_mm512_set1_epi32(0x0001'0001),
                         _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)));
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(0x0010'0010));
  for (int64_t i = 0; i < 16; ++i) {
    const __m512i even = load_row(from + 2 * i * ld, 2 * i < steps, mask);
    const __m512i odd = load_row(from + (2 * i + 1) * ld, 2 * i + 1 < steps, mask);
    rows[i] = _mm512_permutex2var_epi16(even, low, odd);
    rows[16 + i] = _mm512_permutex2var_epi16(even, high, odd);
  }
}

void store_tile(const __m512i* rows, bfloat16* tile) {
  for (int64_t i = 0; i < 16; ++i) _mm512_store_si512(tile + i * kSteps, rows[i]);
}

/// Packs the vectors [begin, begin + n) over all of k, as right tiles (rows of pairs) or left
/// tiles.
template <bool kRight>
void pack(const StridedVectors& from, int64_t begin, int64_t n, int64_t k, bfloat16* packed) {
  const int64_t stride = panel_stride(k);
  __m512i rows[32];
  if (from.k_contiguous) {
    for (int64_t v = 0; v < round_up(n, kBlock); v += kVectors, packed += stride) {
      for (int64_t p = 0; p < k; p += kSteps) {
        load_vectors(from.at(begin + v, p), from.ld, n - v, k - p, rows);
        if (kRight) transpose(rows);
        store_tile(rows, packed + p * kVectors);
      }
    }
    return;
  }
  for (int64_t p = 0; p < k; p += kSteps) {  // along the stored rows, for the prefetcher
    for (int64_t v = 0; v < n; v += kBlock) {
      load_pairs(from.at(begin + v, p), from.ld, n - v, k - p, rows);
      bfloat16* tile = packed + v / kVectors * stride + p * kVectors;
      for (int half = 0; half < 2; ++half) {
        if (!kRight) transpose(rows + 16 * half);
        store_tile(rows + 16 * half, tile + half * stride);
      }
    }
  }
}

/// A block of rows of a: packed, or in place if its rows can be loaded as tiles. Strides are in
/// elements.
struct Left {
  const bfloat16* data;
  int64_t row;    // stride between rows
  int64_t tile;   // stride between tiles along k
  int64_t panel;  // stride between panels
};

/// Computes the sums of a block of 32 x 32 elements over `tiles` tiles of k. kRows and kColumns are
/// the numbers of panels that exist.
template <int kRows, int kColumns>
void amx_block(const Left& a, const bfloat16* b, int64_t b_panel, int64_t tiles, float* sums) {
  constexpr int kPitch = kBlock * sizeof(float);
  const auto a_pitch = static_cast<int>(a.row * sizeof(bfloat16));
  const bfloat16* left = a.data;
  _tile_zero(0);
  if (kColumns == 2) _tile_zero(1);
  if (kRows == 2) _tile_zero(2);
  if (kRows == 2 && kColumns == 2) _tile_zero(3);
  for (int64_t i = 0; i < tiles; ++i) {
    _tile_loadd(4, left, a_pitch);
    _tile_loadd(6, b, 64);
    if (kRows == 2) _tile_loadd(5, left + a.panel, a_pitch);
    if (kColumns == 2) _tile_loadd(7, b + b_panel, 64);
    _tile_dpbf16ps(0, 4, 6);
    if (kColumns == 2) _tile_dpbf16ps(1, 4, 7);
    if (kRows == 2) _tile_dpbf16ps(2, 5, 6);
    if (kRows == 2 && kColumns == 2) _tile_dpbf16ps(3, 5, 7);
    left += a.tile;
    b += kTile;
  }
  _tile_stored(0, sums, kPitch);
  if (kColumns == 2) _tile_stored(1, sums + 16, kPitch);
  if (kRows == 2) _tile_stored(2, sums + 16 * kBlock, kPitch);
  if (kRows == 2 && kColumns == 2) _tile_stored(3, sums + 16 * kBlock + 16, kPitch);
}

/// amx_block on AVX-512: eight rows at a time, whose sums take 16 registers.
void avx512_block(const Left& a, const bfloat16* b, int64_t b_panel, int64_t tiles, int64_t rows,
                  float* sums) {
  constexpr int kRows = 8;
  for (int64_t r = 0; r < rows; r += kRows) {
    __m512 low[kRows], high[kRows];
    for (int i = 0; i < kRows; ++i) low[i] = high[i] = _mm512_setzero_ps();
    const bfloat16* left = a.data + r / kVectors * a.panel + r % kVectors * a.row;
    for (int64_t t = 0; t < tiles; ++t) {
      for (int64_t pair = 0; pair < kSteps / 2; ++pair) {
        const bfloat16* right = b + t * kTile + pair * 32;
        const auto b0 = reinterpret_cast<__m512bh>(_mm512_load_si512(right));
        const auto b1 = reinterpret_cast<__m512bh>(_mm512_load_si512(right + b_panel));
        for (int i = 0; i < kRows; ++i) {
          int32_t two = 0;
          __builtin_memcpy(&two, left + i * a.row + t * a.tile + 2 * pair, sizeof(two));
          const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(two));
          low[i] = _mm512_dpbf16_ps(low[i], both, b0);
          high[i] = _mm512_dpbf16_ps(high[i], both, b1);
        }
      }
    }
    for (int i = 0; i < kRows; ++i) {
      _mm512_store_ps(sums + (r + i) * kBlock, low[i]);
      _mm512_store_ps(sums + (r + i) * kBlock + 16, high[i]);
    }
  }
}

__m512 widen(__m256i x) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

void put(float* c, __mmask32 mask, float beta, __m512 low, __m512 high) {
  const auto m0 = static_cast<__mmask16>(mask), m1 = static_cast<__mmask16>(mask >> 16);
  if (beta != 0.0f) {
    const __m512 b = _mm512_set1_ps(beta);
    low = _mm512_fmadd_ps(b, _mm512_maskz_loadu_ps(m0, c), low);
    high = _mm512_fmadd_ps(b, _mm512_maskz_loadu_ps(m1, c + 16), high);
  }
  _mm512_mask_storeu_ps(c, m0, low);
  _mm512_mask_storeu_ps(c + 16, m1, high);
}

void put(bfloat16* c, __mmask32 mask, float beta, __m512 low, __m512 high) {
  if (beta != 0.0f) {
    const __m512 b = _mm512_set1_ps(beta);
    const __m512i before = _mm512_maskz_loadu_epi16(mask, c);
    low = _mm512_fmadd_ps(b, widen(_mm512_castsi512_si256(before)), low);
    high = _mm512_fmadd_ps(b, widen(_mm512_extracti64x4_epi64(before, 1)), high);
  }
  const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  if (mask == ~0U) {  // a masked store of 16-bit elements is slower
    _mm512_storeu_si512(c, both);
  } else {
    _mm512_mask_storeu_epi16(c, mask, both);
  }
}

template <typename Out>
void put_block(const float* sums, int64_t rows, int64_t columns, float alpha, float beta, Out* c,
               int64_t ldc) {
  const __mmask32 mask = first(columns);
  const __m512 factor = _mm512_set1_ps(alpha);
  for (int64_t r = 0; r < rows; ++r) {
    const __m512 low = _mm512_mul_ps(factor, _mm512_load_ps(sums + r * kBlock));
    const __m512 high = _mm512_mul_ps(factor, _mm512_load_ps(sums + r * kBlock + 16));
    put(c + r * ldc, mask, beta, low, high);
  }
}

void sum_block(GemmIsa isa, const Left& a, const bfloat16* b, int64_t b_panel, int64_t tiles,
               int64_t rows, int64_t columns, float* sums) {
  if (isa != GemmIsa::kAmx) return avx512_block(a, b, b_panel, tiles, rows, sums);
  const bool one_row = rows <= kVectors, one_column = columns <= kVectors;
  if (one_row && one_column) return amx_block<1, 1>(a, b, b_panel, tiles, sums);
  if (one_row) return amx_block<1, 2>(a, b, b_panel, tiles, sums);
  if (one_column) return amx_block<2, 1>(a, b, b_panel, tiles, sums);
  amx_block<2, 2>(a, b, b_panel, tiles, sums);
}

/// Configures eight tile registers of 16 x 64 bytes for its lifetime.
class TileScope {
 public:
  explicit TileScope(GemmIsa isa) : active_(isa == GemmIsa::kAmx) {
    struct alignas(64) Config {
      uint8_t palette = 1;
      uint8_t start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    const Config config;
    if (active_) _tile_loadconfig(&config);
  }
  ~TileScope() {
    if (active_) _tile_release();
  }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  bool active_;
};

/// Returns rows [begin, begin + rows) of a as tiles for n columns. They are loaded in place if all
/// tiles are whole and the 16 rows of a tile do not compete for the same few cache sets.
Left take_left(const StridedVectors& a, int64_t begin, int64_t rows, int64_t k, int64_t n,
               bfloat16* workspace) {
  const bool whole = k % kSteps == 0 && rows % kBlock == 0;
  if (a.k_contiguous && whole && a.ld % 512 != 0 && n < kPackedColumns)
    return {a.at(begin, 0), a.ld, kSteps, kVectors * a.ld};
  pack<false>(a, begin, rows, k, workspace);
  return {workspace, kSteps, kTile, panel_stride(k)};
}

template <typename Out>
void multiply_blocks(GemmIsa isa, const Bf16Gemm<Out>& p, bfloat16* workspace) {
  const TileScope scope(isa);
  const int64_t tiles = round_up(p.k, kSteps) / kSteps;
  const int64_t fitting = kLeftElements / p.k / kBlock * kBlock;
  const int64_t step = fitting < kBlock ? kBlock : smaller(fitting, kLeftRows);
  alignas(64) float sums[kBlock * kBlock];
  for (int64_t begin = 0; begin < p.m; begin += step) {
    const int64_t count = smaller(step, p.m - begin);
    const Left block = take_left(p.a, begin, count, p.k, p.n, workspace);
    for (int64_t j = 0; j < p.n; j += kBlock) {
      const bfloat16* right = p.packed + j / kVectors * p.stride;
      const int64_t columns = smaller(kBlock, p.n - j);
      for (int64_t i = 0; i < count; i += kBlock) {
        const int64_t rows = smaller(kBlock, count - i);
        Left left = block;
        left.data += i / kVectors * left.panel;
        sum_block(isa, left, right, p.stride, tiles, rows, columns, sums);
        put_block(sums, rows, columns, p.alpha, p.beta, p.c + (begin + i) * p.ldc + j, p.ldc);
      }
    }
  }
}

}  // namespace

void pack_right(const StridedVectors& b, int64_t n, int64_t k, bfloat16* packed) {
  pack<true>(b, 0, n, k, packed);
}
void multiply(GemmIsa isa, const Bf16Gemm<float>& product, bfloat16* workspace) {
  multiply_blocks(isa, product, workspace);
}
void multiply(GemmIsa isa, const Bf16Gemm<bfloat16>& product, bfloat16* workspace) {
  multiply_blocks(isa, product, workspace);
}

}  // namespace phi::bf16_tiles
