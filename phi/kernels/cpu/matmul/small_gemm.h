// Matmuls of matrices that are so small that a library's call and packing would take longer than
// the matmul.
#pragma once

#include <cstdint>

#include "phi/kernels/matmul/gemm_plan.h"

namespace phi::detail {

/// Whether small_gemm is faster than the libraries.
template <typename T>
bool is_small_gemm(const GemmShape& shape);

/// Same contract as gemm() in gemm.h, for float and double.
template <typename T>
void small_gemm(const GemmShape& shape, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                T beta, T* c, int64_t ldc);

}  // namespace phi::detail
