// GEMM of row-major matrices for the CPU kernels: c = alpha * op(a) * op(b) + beta * c.
//
//   gemm<float>({.m = 2, .n = 4, .k = 3}, 1.0f, a, 3, b, 4, 0.0f, c, 4);
//
// The size and the dtype select the implementation: a direct loop for very small matrices,
// registers for small ones (small_gemm.h), otherwise oneDNN (float), OpenBLAS (double, complex)
// or, for bfloat16, tiles of AMX or AVX-512 if the machine has them (docs/kernel_algorithms.md). A
// right-hand matrix that is used several times is packed once:
//
//   PackedRight<bfloat16> keys;
//   keys.pack(head_dim, n, k, ldk, /*trans_b=*/true);
//   const GemmShape shape{.m = 64, .n = 256, .k = head_dim};
//   gemm(shape, scale, q, ldq, keys, {.column = 512}, 0.0f, scores, 256);
#pragma once

#include <cstdint>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/cpu/workspace.h"
#include "phi/kernels/matmul/gemm_plan.h"

namespace phi {

/// Methods of half-precision matmuls: widened to float, or on bfloat16 instructions. float16 is
/// always widened.
enum class GemmIsa : uint8_t { kWiden, kAvx512Bf16, kAmx };

/// Whether operands of type T are packed into tiles (bf16_tiles.h).
template <typename T>
constexpr bool has_tiles(GemmIsa isa) {
  return std::is_same_v<T, bfloat16> && isa != GemmIsa::kWiden;
}

/// Returns the fastest method of this machine, or an earlier one of GemmIsa if environment variable
/// AUTOPHI_GEMM_ISA names it: widen, avx512_bf16 or amx.
///
/// Errors   InvalidArgument if the variable has another value.
GemmIsa gemm_isa();

/// Computes c = alpha * op(a) * op(b) + beta * c.
///
/// - `lda`, `ldb` and `ldc` are row strides in elements.
/// - c is not read if beta is 0. Any extent may be 0; with k == 0 the result is beta * c.
/// - T is float, double, complex64, complex128, bfloat16, float16, int32_t or int64_t. Out is T or
///   float.
/// - Half-precision matmuls are summed in float and rounded once, or not at all if Out is float.
/// - `isa` must be supported by the machine. Tests pass it to run every method; float and double
///   ignore it.
template <typename T, typename Out>
void gemm(const GemmShape& shape, accumulator_t<T> alpha, const T* a, int64_t lda, const T* b,
          int64_t ldb, accumulator_t<T> beta, Out* c, int64_t ldc, GemmIsa isa = gemm_isa());

/// Position of a GEMM's b in a packed matrix.
struct PackedPart {
  int64_t row = 0;
  int64_t column = 0;
  static constexpr int64_t kStep = 32;  // row and column are multiples of it
};

/// A right-hand matrix in the form that this machine multiplies fastest: tiles, or widened to
/// float. float and double stay as they are, so their matrix must outlive this object. Memory is
/// reused by the next pack().
template <typename T>
class PackedRight {
 public:
  explicit PackedRight(GemmIsa isa = gemm_isa()) : isa_(isa) {}
  /// Packs op(b), which is [k, n].
  void pack(int64_t k, int64_t n, const T* b, int64_t ldb, bool trans_b);
  /// Makes room for matrices of up to [k, n]. Without it each larger matrix makes room, and leaves
  /// a smaller block in the rank's cache.
  void reserve(int64_t k, int64_t n) { room(k, n); }

  /// The memory of pack(): bytes for a [k, n] matrix.
  static size_t packed_bytes(int64_t k, int64_t n, GemmIsa isa = gemm_isa());

  /// Used by gemm().
  struct View {
    GemmIsa isa;
    const void* data;
    int64_t ld;  // stride between stored rows, or between panels of tiles
    bool trans;
  };
  View view() const { return {isa_, data_, ld_, trans_}; }

 private:
  std::byte* room(int64_t k, int64_t n) {
    return workspace_.room<std::byte>(static_cast<int64_t>(packed_bytes(k, n, isa_)));
  }

  GemmIsa isa_;
  const void* data_ = nullptr;
  int64_t ld_ = 0;
  bool trans_ = false;
  Workspace workspace_;
};

/// Makes room for matmuls of bfloat16 with packed matrices and up to this k, on the calling thread.
/// Without it the first matmul of each larger k makes room, and leaves a smaller block in the
/// rank's cache.
void reserve_steps(int64_t steps);

/// GEMM with the [k, n] part of `b` that begins at `part`; shape.trans_b is not used. If the part
/// ends before the matrix does and k is not a multiple of PackedPart::kStep, up to 31 further rows
/// of b are multiplied by zero, so these must be finite.
template <typename T, typename Out>
void gemm(const GemmShape& shape, accumulator_t<T> alpha, const T* a, int64_t lda,
          const PackedRight<T>& b, const PackedPart& part, accumulator_t<T> beta, Out* c,
          int64_t ldc);

}  // namespace phi
