// Half-precision implementations of gemm.h.
#pragma once

#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi::detail {

/// T is bfloat16 or float16, Out is T or float; m, n and k are positive.
template <typename T, typename Out>
void gemm_half(const GemmShape& shape, float alpha, const T* a, int64_t lda, const T* b,
               int64_t ldb, float beta, Out* c, int64_t ldc, GemmIsa isa);

/// GEMM with a widened b. Extra memory: a panel of rows of a and, unless Out is float, one of c.
template <typename T, typename Out>
void gemm_widened(const GemmShape& shape, float alpha, const T* a, int64_t lda, const float* b,
                  int64_t ldb, float beta, Out* c, int64_t ldc);

/// GEMM with b in tiles, whose panels are `stride` elements apart.
template <typename Out>
void gemm_tiles(GemmIsa isa, const GemmShape& shape, float alpha, const bfloat16* a, int64_t lda,
                const bfloat16* packed, int64_t stride, float beta, Out* c, int64_t ldc);

}  // namespace phi::detail
