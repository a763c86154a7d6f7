// Batches of matrix products on a GPU; cpu/matmul/batched_product.h has the CPU's.
#pragma once

#include "phi/core/device/device_context.h"
#include "phi/kernels/products/product_plan.h"

namespace phi {

/// c = op(a) op(b) for each member of the batch of a and b, which broadcast. Where c has size 1 or
/// no tensor dim in the batch, it is the sum over the members. T in float, double, bfloat16,
/// float16, complex64, complex128; sums of 16-bit numbers are kept in float and rounded once.
template <typename T>
void batched_product(const GpuContext& ctx, const ProductOperand& a, const T* a_data,
                     const ProductOperand& b, const T* b_data, const MatrixBatch& c, T* c_data);

}  // namespace phi
