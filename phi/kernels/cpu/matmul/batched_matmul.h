// Batched matmuls, folded into as few GEMM calls as the layouts allow. A forward matmul and both of
// its gradients are such matmuls.
//
//   const MatrixBatch x = matrices_of({2, 3, 4}, VectorIs::kRow);
//   const MatrixBatch y = matrices_of({5, 4}, VectorIs::kColumn);
//   batched_matmul<float>({x, false}, x_data, {y, true}, y_data, out, out_data);
#pragma once

#include <cstdint>

#include "phi/core/device/device_context.h"
#include "phi/core/storage/planned_scratch.h"
#include "phi/kernels/matmul/gemm_plan.h"

namespace phi {

/// Sets c = op(a) op(b) for each element of the batch; a and b broadcast. If c has size 1 or no
/// tensor dim for a batch dim, c is the sum over that dim. T is float, double, bfloat16, float16,
/// complex64, complex128, int32_t or int64_t. Half-precision sums are kept in float and rounded
/// once; integers wrap around.
template <typename T>
void batched_matmul(const GemmOperand& a, const T* a_data, const GemmOperand& b, const T* b_data,
                    const MatrixBatch& c, T* c_data);

/// Plans the scratch memory of batched_matmul<T>.
template <typename T>
void plan_batched_matmul(const GemmOperand& a, const GemmOperand& b, const MatrixBatch& c,
                         PlannedScratch* scratch);

/// The device primitive for shared kernel templates (kernels/templates).
template <typename T>
void batched_matmul(const CpuContext&, const GemmOperand& a, const T* a_data, const GemmOperand& b,
                    const T* b_data, const MatrixBatch& c, T* c_data) {
  batched_matmul(a, a_data, b, b_data, c, c_data);
}

}  // namespace phi
