// Products of small matrices, which a library's call and packing would take longer than.
#pragma once

#include <cstdint>

#include "phi/kernels/products/product_plan.h"

namespace phi::detail {

/// Whether small_product is quicker than the libraries.
template <typename T>
bool is_small_product(const GemmShape& shape);

/// As gemm.h has it, of float or double.
template <typename T>
void small_product(const GemmShape& shape, T alpha, const T* a, int64_t lda, const T* b,
                   int64_t ldb, T beta, T* c, int64_t ldc);

}  // namespace phi::detail
