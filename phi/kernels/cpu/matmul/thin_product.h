// Products of a matrix of 16-bit floats and few rows, such as one step of generation: what takes
// time is reading the matrix, which is done once, in its own width.
#pragma once

#include <cstdint>

#include "phi/kernels/products/product_plan.h"

namespace phi::detail {

/// Whether op(a) has few rows or op(b) few columns.
bool is_thin(const GemmShape& shape);

/// As gemm() has it, on this thread; m, n and k are positive. Summed in float and rounded once.
template <typename T, typename Out>
void thin_product(const GemmShape& shape, float alpha, const T* a, int64_t lda, const T* b,
                  int64_t ldb, float beta, Out* c, int64_t ldc);

}  // namespace phi::detail
