// Batched matmul on a GPU. The CPU version is cpu/matmul/batched_matmul.h.
#pragma once

#include "phi/core/device/device_context.h"
#include "phi/kernels/matmul/gemm_plan.h"

namespace phi {

/// c = op(a) op(b) for each member of the broadcast batch dims of a and b. Where c has size 1 or no
/// tensor dim in the batch, it is the sum over those members. T is float, double, bfloat16,
/// float16, complex64 or complex128. Half-precision sums are accumulated in float and rounded once.
template <typename T>
void batched_matmul(const GpuContext& ctx, const GemmOperand& a, const T* a_data,
                    const GemmOperand& b, const T* b_data, const MatrixBatch& c, T* c_data);

}  // namespace phi
