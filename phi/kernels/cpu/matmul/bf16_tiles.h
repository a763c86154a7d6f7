// bfloat16 products on instructions for them: the right operand packed into tiles, blocks of 32 x
// 32 sums in float32. gemm.h is the interface for kernels; this is what it calls on machines that
// can.
//
// A tile is 16 rows of 64 bytes, 16 vectors over 32 steps of k: an AMX register. A left tile holds
// one vector (a row of a) per row; a right tile holds one pair of steps per row and in it the pair
// of each vector (a column of b), as TDPBF16PS and VDPBF16PS want it. A panel is the tiles of 16
// vectors over all of k. Vectors and steps that the matrix lacks are zero.
//
// avx512/ has the code, portable/ its twin for builds on other machines.
#pragma once

#include <cstdint>

#include "phi/common/half.h"

namespace phi {

enum class GemmIsa : uint8_t;

namespace bf16_tiles {

inline constexpr int64_t kVectors = 16;    // of a tile
inline constexpr int64_t kSteps = 32;      // of k in a tile
inline constexpr int64_t kTile = 16 * 32;  // elements
inline constexpr int64_t kBlock = 32;      // rows and columns of a block of sums
inline constexpr int64_t kLeftRows = 128;  // most rows of a that are packed at a time

constexpr int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Elements from one panel to the next.
constexpr int64_t panel_stride(int64_t k) { return kVectors * round_up(k, kSteps); }
/// Elements of a packed matrix of n vectors.
constexpr int64_t packed_size(int64_t n, int64_t k) {
  return round_up(n, kBlock) / kVectors * panel_stride(k);
}
/// Elements of the workspace that multiply() needs.
constexpr int64_t left_size(int64_t k) { return packed_size(kLeftRows, k); }

/// A matrix as vectors along k: rows of op(a), columns of op(b).
struct Vectors {
  const bfloat16* data = nullptr;
  int64_t ld = 0;             // elements from one stored row to the next
  bool k_contiguous = false;  // a stored row is one vector; otherwise it is one step of all vectors

  const bfloat16* at(int64_t vector, int64_t step) const {
    return data + (k_contiguous ? vector * ld + step : step * ld + vector);
  }
};

/// The fastest that this machine offers; asks the system for AMX state on the first call.
GemmIsa best_isa();

/// Packs n columns of op(b) into packed_size(n, k) elements, 64-byte aligned.
void pack_right(const Vectors& b, int64_t n, int64_t k, bfloat16* packed);

/// c = alpha * op(a) * b + beta * c for the first n columns and k steps from `packed` on, where one
/// panel lies `stride` elements after the other. k > 0; c is not read when beta is 0; Out is float
/// or bfloat16.
template <typename Out>
struct Product {
  int64_t m, n, k;
  float alpha;
  Vectors a;
  const bfloat16* packed;
  int64_t stride;
  float beta;
  Out* c;
  int64_t ldc;
};
void multiply(GemmIsa isa, const Product<float>& product, bfloat16* workspace);
void multiply(GemmIsa isa, const Product<bfloat16>& product, bfloat16* workspace);

}  // namespace bf16_tiles
}  // namespace phi
