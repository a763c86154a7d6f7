// Device primitives of ScratchContext. They plan the scratch memory of the CPU's primitives
// (device_primitives.h) and compute nothing, so a template that is written in primitives and
// data_of states its own scratch memory:
//
//   PHI_REGISTER_SCRATCH(einsum, EinsumKernel, Halves);
#pragma once

#include <cstdint>

#include "phi/core/device/scratch_context.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/pieces.h"

namespace phi {

// Primitives that need no scratch memory.

template <typename... Args>
void unary_loop(const ScratchContext&, Args&&...) {}

template <typename T>
void fill(const ScratchContext&, T*, int64_t, T) {}

template <typename Reducer, typename... Args>
void reduce(const ScratchContext&, Args&&...) {}

template <typename T>
void copy_pieces(const ScratchContext&, const Pieces&, const DenseTensor&, DenseTensor*) {}

template <typename T>
void batched_matmul(const ScratchContext& ctx, const GemmOperand& a, const T*, const GemmOperand& b,
                    const T*, const MatrixBatch& c, T*) {
  plan_batched_matmul<T>(a, b, c, &ctx.scratch());
}

}  // namespace phi
