// Device primitives that copy pieces between arrays, on GPUs. cpu/data_movement/move.h has the same
// functions for the CPU.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/gpu/gpu_device.h"
#include "phi/kernels/gpu/data_movement/fill.h"
#include "phi/kernels/gpu/data_movement/piece_moves.h"
#include "phi/kernels/gpu/indexing/slices.h"

namespace phi {

template <typename T>
void copy_pieces(const GpuContext& ctx, const Pieces& pieces, const DenseTensor& x,
                 DenseTensor* out) {
  if (x.numel() == 0 || out->numel() == 0) return;
  gpu::move_pieces(ctx, pieces, x.raw_data(), out->mutable_raw_data(), sizeof(T));
}

template <typename T>
void put_pieces(const GpuContext& ctx, const Pieces& pieces, const DenseTensor& x,
                DenseTensor* out) {
  if (x.numel() == 0 || out->numel() == 0) return;
  gpu::move_pieces_back(ctx, pieces, x.raw_data(), out->mutable_raw_data(), sizeof(T));
}

template <typename T>
void copy_pieces_back(const GpuContext& ctx, const Pieces& pieces, const DenseTensor& out_grad,
                      DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  const T zero(0.0f);
  gpu::fill_elements(ctx, x_grad->mutable_raw_data(), x_grad->numel(), &zero, sizeof(T));
  put_pieces<T>(ctx, pieces, out_grad, x_grad);
}

/// Adds the terms of an element in the iteration order of the pieces.
template <typename T>
void sum_pieces_back(const GpuContext& ctx, const Pieces& pieces, const DenseTensor& out_grad,
                     DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  T* to = x_grad->mutable_data<T>();
  const auto moved = gpu::positions_by_source(ctx, pieces, x_grad->numel());
  gpu::add_positions<T>(ctx, SumsFrom::kZero, {1, x_grad->numel(), 1}, moved, out_grad.numel(), to,
                        out_grad.data<T>(), to);
}

/// Copies n host values to the GPU. A single value is a fill; more than one is a copy, which
/// synchronises with the GPU.
template <typename T>
DenseTensor array_from_host(const GpuContext& ctx, const T* values, size_t n) {
  const TensorMeta meta{{static_cast<int64_t>(n)}, dtype_of<T>()};
  DenseTensor array = DenseTensor::empty(meta, ctx.place());
  auto* to = static_cast<std::byte*>(array.mutable_raw_data());
  if (n == 1) {
    gpu::fill_elements(ctx, to, 1, values, sizeof(T));
  } else if (n > 0) {
    gpu::GpuDevice::of(ctx.place()).copy_from_host(to, values, n * sizeof(T));
  }
  return array;
}

}  // namespace phi
