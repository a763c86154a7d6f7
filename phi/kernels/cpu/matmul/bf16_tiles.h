// bfloat16 matmuls on AMX or AVX-512 BF16: the right operand is packed into tiles, and sums are
// blocks of 32 x 32 in float32. Kernels call gemm.h, which calls this on machines with these
// instructions.
//
// A tile is 16 rows of 64 bytes, that is, 16 vectors over 32 steps of k: one AMX register. A left
// tile has one vector (a row of a) per row. A right tile has one pair of steps per row, and in it
// the pair of each vector (a column of b), the layout of TDPBF16PS and VDPBF16PS. A panel consists
// of the tiles of 16 vectors over all of k. Vectors and steps beyond the matrix are zero.
//
// avx512/ has the implementation, portable/ a stub for builds on other machines.
#pragma once

#include <cstdint>

#include "phi/common/half.h"

namespace phi {

enum class GemmIsa : uint8_t;

namespace bf16_tiles {

inline constexpr int64_t kVectors = 16;    // vectors per tile
inline constexpr int64_t kSteps = 32;      // steps of k per tile
inline constexpr int64_t kTile = 16 * 32;  // elements per tile
inline constexpr int64_t kBlock = 32;      // rows and columns of a block of sums
inline constexpr int64_t kLeftRows = 128;  // maximum number of rows of a that are packed at a time

constexpr int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Returns the stride between panels in elements.
constexpr int64_t panel_stride(int64_t k) { return kVectors * round_up(k, kSteps); }
/// Returns the number of elements of a packed matrix of n vectors.
constexpr int64_t packed_size(int64_t n, int64_t k) {
  return round_up(n, kBlock) / kVectors * panel_stride(k);
}
/// Returns the number of workspace elements that multiply() needs.
constexpr int64_t left_size(int64_t k) { return packed_size(kLeftRows, k); }

/// A matrix as vectors along k: rows of op(a), or columns of op(b).
struct StridedVectors {
  const bfloat16* data = nullptr;
  int64_t ld = 0;             // row stride in elements
  bool k_contiguous = false;  // a stored row is one vector, else one step of all

  const bfloat16* at(int64_t vector, int64_t step) const {
    return data + (k_contiguous ? vector * ld + step : step * ld + vector);
  }
};

/// Returns the fastest method of this machine. The first call requests AMX state from the system.
GemmIsa best_isa();

/// Packs n columns of op(b) into packed_size(n, k) elements, which must be 64-byte aligned.
void pack_right(const StridedVectors& b, int64_t n, int64_t k, bfloat16* packed);

/// c = alpha * op(a) * b + beta * c, for the first n columns and k steps of `packed`, whose panels
/// are `stride` elements apart. k > 0. c is not read if beta is 0. Out is float or bfloat16.
template <typename Out>
struct Bf16Gemm {
  int64_t m, n, k;
  float alpha;
  StridedVectors a;
  const bfloat16* packed;
  int64_t stride;
  float beta;
  Out* c;
  int64_t ldc;
};
void multiply(GemmIsa isa, const Bf16Gemm<float>& product, bfloat16* workspace);
void multiply(GemmIsa isa, const Bf16Gemm<bfloat16>& product, bfloat16* workspace);

}  // namespace bf16_tiles
}  // namespace phi
