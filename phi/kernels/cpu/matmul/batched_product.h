// Products of batches of matrices, folded into as few GEMM calls as the layouts allow. The forward
// product and both of its gradients are such products.
//
//   const MatrixBatch x = matrices_of({2, 3, 4}, VectorIs::kRow);
//   const MatrixBatch y = matrices_of({5, 4}, VectorIs::kColumn);
//   batched_product<float>({x, false}, x_data, {y, true}, y_data, out, out_data);
#pragma once

#include <cstdint>

#include "phi/core/device/device_context.h"
#include "phi/kernels/products/product_plan.h"

namespace phi {

/// c = op(a) op(b) for each member of the batch of a and b, which broadcast. Where c has size 1 or
/// no tensor dim in the batch, it is the sum over the members. T in float, double, bfloat16,
/// float16, complex64, complex128, int32_t, int64_t; sums of 16-bit numbers are kept in float and
/// rounded once, integers wrap around.
template <typename T>
void batched_product(const ProductOperand& a, const T* a_data, const ProductOperand& b,
                     const T* b_data, const MatrixBatch& c, T* c_data);

/// The same, as a word of tables of kernels (kernels/tables).
template <typename T>
void batched_product(const CpuContext&, const ProductOperand& a, const T* a_data,
                     const ProductOperand& b, const T* b_data, const MatrixBatch& c, T* c_data) {
  batched_product(a, a_data, b, b_data, c, c_data);
}

}  // namespace phi
