// Row-major matrix product for the CPU kernels: c = alpha * op(a) * op(b) + beta * c.
//
//   gemm<float>({.m = 2, .n = 4, .k = 3}, 1.0f, a, 3, b, 4, 0.0f, c, 4);
//
// Very small products run in a direct loop, small ones in registers (small_product.h), others in
// oneDNN (float), OpenBLAS (double, complex) or, for bfloat16, in tiles of AMX or AVX-512 where the
// machine has them (docs/kernel_algorithms.md). A right-hand matrix of several products is packed
// once:
//
//   PackedRight<bfloat16> keys;
//   keys.pack(head_dim, n, k, ldk, /*trans_b=*/true);
//   const GemmShape shape{.m = 64, .n = 256, .k = head_dim};
//   gemm(shape, scale, q, ldq, keys, {.column = 512}, 0.0f, scores, 256);
#pragma once

#include <cstdint>

#include "phi/common/dtype.h"
#include "phi/kernels/cpu/workspace.h"
#include "phi/kernels/products/product_plan.h"

namespace phi {

/// How 16-bit products are made: widened to float, or on bfloat16 instructions. float16 is always
/// widened.
enum class GemmIsa : uint8_t { kWiden, kAvx512Bf16, kAmx };

/// The fastest that this machine offers, or the earlier one in GemmIsa that the environment
/// variable AUTOPHI_GEMM_ISA names: widen, avx512_bf16 or amx. Errors: InvalidArgument for another
/// word.
GemmIsa gemm_isa();

/// `lda`, `ldb`, `ldc` are elements from one stored row to the next. c is not read when beta is 0.
/// Any extent may be 0; with k == 0 the result is beta * c. T is float, double, complex64,
/// complex128, bfloat16, float16, int32_t or int64_t; 16-bit products are summed in float and
/// rounded once, or not at all where Out is float. Out is T or float. float and double ignore
/// `isa`, which the machine must have (tests name it, to try every way).
template <typename T, typename Out>
void gemm(const GemmShape& shape, accumulator_t<T> alpha, const T* a, int64_t lda, const T* b,
          int64_t ldb, accumulator_t<T> beta, Out* c, int64_t ldc, GemmIsa isa = gemm_isa());

/// Where in a packed matrix a product's b begins.
struct PackedPart {
  int64_t row = 0;
  int64_t column = 0;
  static constexpr int64_t kStep = 32;  // both are multiples of it
};

/// A right-hand matrix in the form that this machine multiplies fastest: tiles, widened to float,
/// or (float and double) as it is, and then it must outlive its products. Memory is kept from one
/// pack() to the next.
template <typename T>
class PackedRight {
 public:
  explicit PackedRight(GemmIsa isa = gemm_isa()) : isa_(isa) {}
  /// op(b) is [k, n].
  void pack(int64_t k, int64_t n, const T* b, int64_t ldb, bool trans_b);

  /// Used by gemm().
  struct View {
    GemmIsa isa;
    const void* data;
    int64_t ld;  // elements from one stored row, or one panel of tiles, to the next
    bool trans;
  };
  View view() const { return {isa_, data_, ld_, trans_}; }

 private:
  GemmIsa isa_;
  const void* data_ = nullptr;
  int64_t ld_ = 0;
  bool trans_ = false;
  Workspace workspace_;
};

/// As gemm above with the [k, n] part of `b` that begins at `part`; shape.trans_b is not used.
/// If the part ends before the matrix does and k is no multiple of PackedPart::kStep, up to 31
/// further rows of b are multiplied by zero, so they must be finite.
template <typename T, typename Out>
void gemm(const GemmShape& shape, accumulator_t<T> alpha, const T* a, int64_t lda,
          const PackedRight<T>& b, const PackedPart& part, accumulator_t<T> beta, Out* c,
          int64_t ldc);

}  // namespace phi
