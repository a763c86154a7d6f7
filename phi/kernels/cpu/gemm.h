// Row-major matrix product for the CPU kernels: c = alpha * op(a) * op(b) + beta * c.
//
//   gemm<float>({.m = 2, .n = 4, .k = 3}, 1.0f, a, 3, b, 4, 0.0f, c, 4);
//
// Very small products run in a direct loop, others in oneDNN (float) or OpenBLAS (double);
// docs/kernels.md has the figures behind that choice.
#pragma once

#include <cstdint>

namespace phi {

/// op(a) is [m, k], op(b) is [k, n], c is [m, n]; a flag says that the argument is stored
/// transposed.
struct GemmShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool trans_a = false;
  bool trans_b = false;
};

/// `lda`, `ldb`, `ldc` are elements from one stored row to the next. c is not read when beta is 0.
/// Any extent may be 0; with k == 0 the result is beta * c. Defined for float and double.
template <typename T>
void gemm(const GemmShape& shape, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta,
          T* c, int64_t ldc);

}  // namespace phi
