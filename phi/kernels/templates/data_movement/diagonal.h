// Kernels on matrix diagonals. The two tensor dims of the matrix are unsharded.
#pragma once

#include "phi/common/inexact.h"
#include "phi/generated/kernels/diagonal.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/diagonal.h"
#include "phi/kernels/functors/scalar_value.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

/// Moves the diagonals of an array of `dims` to an array that has them as its last dim.
Pieces diagonals(const Dims& dims, int64_t offset, int axis1, int axis2) {
  const int rows = normalise_axis(axis1, dims.ndim(), dims);
  const int columns = normalise_axis(axis2, dims.ndim(), dims);
  const Dims strides = dims.strides();
  const int64_t length = diagonal_length(dims[rows], dims[columns], offset);
  // An empty diagonal could begin outside of the array.
  const int64_t first = length == 0 ? 0 : offset * (offset > 0 ? strides[columns] : -strides[rows]);
  int64_t step = dims.numel(0, dims.ndim()) == 0 ? 0 : length;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (d != rows && d != columns) step *= dims[d];
  }
  Pieces pieces({0, first});
  for (int d = 0; d < dims.ndim(); ++d) {
    if (d == rows || d == columns) continue;
    step = dims[d] == 0 ? 0 : step / dims[d];
    pieces.append(dims[d], {step, strides[d]});
  }
  pieces.append(length, {1, strides[rows] + strides[columns]});
  return pieces;
}

/// Moves diagonal `offset` of a matrix to a vector.
Pieces vector_diagonal(const Dims& matrix, int64_t offset) {
  return diagonals(matrix, offset, 0, 1);
}

}  // namespace

/// A matrix from a vector has padding_value off the diagonal.
template <typename T, typename Context>
void DiagKernel(const Context& ctx, const DenseTensor& x, int offset, float padding_value,
                DenseTensor* out) {
  if (x.ndim() == 2) return copy_pieces<T>(ctx, vector_diagonal(x.dims(), offset), x, out);
  fill(ctx, out->mutable_data<T>(), out->numel(), scalar_value<T>(Scalar(padding_value)));
  put_pieces<T>(ctx, vector_diagonal(out->dims(), offset), x, out);
}

template <typename T, typename Context>
void DiagGradKernel(const Context& ctx, const DenseTensor& out_grad, int offset,
                    DenseTensor* x_grad) {
  if (x_grad->ndim() == 2) {
    return copy_pieces_back<T>(ctx, vector_diagonal(x_grad->dims(), offset), out_grad, x_grad);
  }
  copy_pieces<T>(ctx, vector_diagonal(out_grad.dims(), offset), out_grad, x_grad);
}

template <typename T, typename Context>
void DiagonalKernel(const Context& ctx, const DenseTensor& x, int offset, int axis1, int axis2,
                    DenseTensor* out) {
  copy_pieces<T>(ctx, diagonals(x.dims(), offset, axis1, axis2), x, out);
}

template <typename T, typename Context>
void DiagonalGradKernel(const Context& ctx, const DenseTensor& out_grad, int offset, int axis1,
                        int axis2, DenseTensor* x_grad) {
  copy_pieces_back<T>(ctx, diagonals(x_grad->dims(), offset, axis1, axis2), out_grad, x_grad);
}

template <typename T, typename Context>
void DiagEmbedKernel(const Context& ctx, const DenseTensor& input, int offset, int dim1, int dim2,
                     DenseTensor* out) {
  copy_pieces_back<T>(ctx, diagonals(out->dims(), offset, dim1, dim2), input, out);
}

/// out may be x.
template <typename T, typename Context>
void FillDiagonalTensorKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                              int64_t offset, int dim1, int dim2, DenseTensor* out) {
  keep(ctx, x, out);
  put_pieces<T>(ctx, diagonals(x.dims(), offset, dim1, dim2), y, out);
}

PHI_REGISTER_KERNEL(diag, PHI_DEVICE, DiagKernel, EveryType);
PHI_REGISTER_KERNEL(diag_grad, PHI_DEVICE, DiagGradKernel, Inexact);
PHI_REGISTER_KERNEL(diagonal, PHI_DEVICE, DiagonalKernel, EveryType);
PHI_REGISTER_KERNEL(diagonal_grad, PHI_DEVICE, DiagonalGradKernel, Inexact);
PHI_REGISTER_KERNEL(diag_embed, PHI_DEVICE, DiagEmbedKernel, EveryType);
PHI_REGISTER_KERNEL(fill_diagonal_tensor, PHI_DEVICE, FillDiagonalTensorKernel, EveryType);

}  // namespace phi
