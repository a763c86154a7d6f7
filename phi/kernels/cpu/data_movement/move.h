// Device primitives of the CPU that move pieces between arrays; gpu/data_movement/move.h has the
// GPU's.
#pragma once

#include <algorithm>
#include <cstring>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/core/scratch_array.h"
#include "phi/kernels/cpu/data_movement/pieces.h"

namespace phi {

/// PieceMoves::copy and copy_back for elements of `width` bytes.
void move_pieces(const Pieces& pieces, const void* from, void* to, size_t width);
void move_pieces_back(const Pieces& pieces, const void* grad, void* from, size_t width);

/// Copies the pieces of x to out. Elements of out that no piece reaches do not change.
template <typename T>
void copy_pieces(const CpuContext&, const Pieces& pieces, const DenseTensor& x, DenseTensor* out) {
  if (x.numel() == 0 || out->numel() == 0) return;
  move_pieces(pieces, x.raw_data(), out->mutable_raw_data(), sizeof(T));
}

/// Copies x, which has the layout of the pieces' target, back to the pieces' sources in `out`. The
/// pieces must move no element twice. Other elements do not change.
template <typename T>
void put_pieces(const CpuContext&, const Pieces& pieces, const DenseTensor& x, DenseTensor* out) {
  if (x.numel() == 0 || out->numel() == 0) return;
  move_pieces_back(pieces, x.raw_data(), out->mutable_raw_data(), sizeof(T));
}

/// The gradient of pieces that move no element twice: copies out_grad back to the sources and
/// writes zeros elsewhere.
template <typename T>
void copy_pieces_back(const CpuContext& ctx, const Pieces& pieces, const DenseTensor& out_grad,
                      DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  std::memset(x_grad->mutable_raw_data(), 0, x_grad->nbytes());
  put_pieces<T>(ctx, pieces, out_grad, x_grad);
}

/// The gradient of any pieces: sums over the places to which an element was moved.
template <typename T>
void sum_pieces_back(const CpuContext&, const Pieces& pieces, const DenseTensor& out_grad,
                     DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  sum_back(pieces, out_grad.data<T>(), x_grad->mutable_data<T>(), x_grad->numel());
}

/// Returns an array of n values of the host.
template <typename T>
DenseTensor array_from_host(const CpuContext& ctx, const T* values, size_t n) {
  const TensorMeta meta{{static_cast<int64_t>(n)}, dtype_of<T>()};
  DenseTensor array = scratch_array(meta, ctx.place());
  std::copy_n(values, n, array.mutable_data<T>());
  return array;
}

}  // namespace phi
