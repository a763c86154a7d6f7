// Matmuls of a half-precision matrix with few rows, such as a generation step. Reading the matrix
// dominates, so it is read once, in its own width.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/kernels/matmul/gemm_plan.h"

namespace phi::detail {

/// Whether op(a) has few rows or op(b) few columns.
bool is_skinny(const GemmShape& shape);

/// Elements of the few rows, which are widened to float.
constexpr int64_t skinny_size(const GemmShape& shape) {
  return std::min(shape.m, shape.n) * shape.k;
}

/// Same contract as gemm(), on the calling thread; m, n and k are positive. Sums are kept in float
/// and rounded once.
template <typename T, typename Out>
void skinny_gemm(const GemmShape& shape, float alpha, const T* a, int64_t lda, const T* b,
                 int64_t ldb, float beta, Out* c, int64_t ldc);

}  // namespace phi::detail
