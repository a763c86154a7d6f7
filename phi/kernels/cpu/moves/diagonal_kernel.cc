// CPU kernels on diagonals and triangles of matrices. The two tensor dims of the matrices are
// whole, except where a kernel asks where its part lies.
#include <algorithm>
#include <cstring>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/diagonal.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/diagonal.h"
#include "phi/kernels/cpu/moves/move.h"
#include "phi/kernels/cpu/moves/scalar_value.h"

namespace phi {
namespace {

/// From the diagonals of an array of `dims` to an array that has them last.
Pieces diagonals(const Dims& dims, int64_t offset, int axis1, int axis2) {
  const int rows = normalise_axis(axis1, dims.ndim(), dims);
  const int columns = normalise_axis(axis2, dims.ndim(), dims);
  const Dims strides = dims.strides();
  const int64_t length = diagonal_length(dims[rows], dims[columns], offset);
  // An empty diagonal begins nowhere.
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

template <typename T>
void copy_all(const DenseTensor& x, DenseTensor* out) {
  const void* from = x.raw_data();
  void* to = out->mutable_raw_data();
  if (x.numel() > 0 && from != to) std::memcpy(to, from, x.nbytes());
}

/// The two diagonals that diag goes between: of a vector's matrix, or of a matrix.
Pieces vector_diagonal(const Dims& matrix, int64_t offset) {
  return diagonals(matrix, offset, 0, 1);
}

}  // namespace

/// Zero below the diagonal of the *global* matrices, whatever part of them is here. out may be x.
template <typename T, typename Context>
void TriuKernel(const Context& ctx, const DenseTensor& x, int diagonal, DenseTensor* out) {
  if (x.numel() == 0) return;
  const Box here = ctx.output_box(0, x.dims()).box;
  const int row_dim = x.ndim() - 2;
  const int64_t rows = x.dims()[row_dim];
  const int64_t columns = x.dims()[row_dim + 1];
  // Row r keeps its columns c with global c >= global r + diagonal.
  const int64_t shift = here.offset[row_dim] - here.offset[row_dim + 1] + diagonal;
  copy_all<T>(x, out);
  T* to = out->mutable_data<T>();
  for (int64_t m = 0; m < x.dims().numel(0, row_dim); ++m) {
    for (int64_t r = 0; r < rows; ++r, to += columns) {
      std::fill_n(to, std::clamp<int64_t>(r + shift, 0, columns), T(0));
    }
  }
}

/// padding_value stands beside a vector's diagonal.
template <typename T, typename Context>
void DiagKernel(const Context&, const DenseTensor& x, int offset, float padding_value,
                DenseTensor* out) {
  if (x.ndim() == 2) return copy_pieces<T>(vector_diagonal(x.dims(), offset), x, out);
  std::fill_n(out->mutable_data<T>(), out->numel(), scalar_value<T>(Scalar(padding_value)));
  using W = width_t<T>;
  if (x.numel() == 0) return;
  vector_diagonal(out->dims(), offset)
      .copy_back(static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

template <typename T, typename Context>
void DiagGradKernel(const Context&, const DenseTensor& out_grad, int offset, DenseTensor* x_grad) {
  if (x_grad->ndim() == 2) {
    return copy_pieces_back<T>(vector_diagonal(x_grad->dims(), offset), out_grad, x_grad);
  }
  copy_pieces<T>(vector_diagonal(out_grad.dims(), offset), out_grad, x_grad);
}

template <typename T, typename Context>
void DiagonalKernel(const Context&, const DenseTensor& x, int offset, int axis1, int axis2,
                    DenseTensor* out) {
  copy_pieces<T>(diagonals(x.dims(), offset, axis1, axis2), x, out);
}

template <typename T, typename Context>
void DiagonalGradKernel(const Context&, const DenseTensor& out_grad, int offset, int axis1,
                        int axis2, DenseTensor* x_grad) {
  copy_pieces_back<T>(diagonals(x_grad->dims(), offset, axis1, axis2), out_grad, x_grad);
}

template <typename T, typename Context>
void DiagEmbedKernel(const Context&, const DenseTensor& input, int offset, int dim1, int dim2,
                     DenseTensor* out) {
  copy_pieces_back<T>(diagonals(out->dims(), offset, dim1, dim2), input, out);
}

/// `value` on the diagonal of the *global* array, whatever part of it is here: at every element
/// whose number is a multiple of the sum of the strides, `offset` further in its row. Without
/// `wrap` the diagonal ends where the first square does. out may be x.
template <typename T, typename Context>
void FillDiagonalKernel(const Context& ctx, const DenseTensor& x, float value, int offset,
                        bool wrap, DenseTensor* out) {
  copy_all<T>(x, out);
  if (x.numel() == 0) return;
  const ShardBox here = ctx.output_box(0, x.dims());
  const Dims strides = here.global.strides();
  const Dims own = here.box.size.strides();
  const int64_t columns = here.global[1];
  const int64_t all = here.global.numel();
  // columns * columns may be more than int64 holds; it matters only below `all`.
  const bool tall = columns <= all / columns && columns * columns < all;
  const int64_t end = wrap || !tall ? all : columns * columns;
  int64_t step = 0;
  for (int64_t stride : strides) step += stride;
  T* to = out->mutable_data<T>();
  const T element = scalar_value<T>(Scalar(value));
  for (int64_t i = 0; i < end; i += step) {
    const int64_t column = i % columns + offset;
    if (column < 0 || column >= columns) continue;
    int64_t at = 0;
    bool inside = true;
    int64_t rest = i + offset;
    for (int d = 0; d < strides.ndim() && inside; ++d) {
      const int64_t index = rest / strides[d] - here.box.offset[d];
      rest %= strides[d];
      inside = index >= 0 && index < here.box.size[d];
      at += index * own[d];
    }
    if (inside) to[at] = element;
  }
}

/// out may be x.
template <typename T, typename Context>
void FillDiagonalTensorKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                              int64_t offset, int dim1, int dim2, DenseTensor* out) {
  using W = width_t<T>;
  copy_all<T>(x, out);
  if (x.numel() == 0 || y.numel() == 0) return;
  diagonals(x.dims(), offset, dim1, dim2)
      .copy_back(static_cast<const W*>(y.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

PHI_REGISTER_KERNEL(triu, CPU, TriuKernel, EveryType);
PHI_REGISTER_KERNEL(diag, CPU, DiagKernel, EveryType);
PHI_REGISTER_KERNEL(diag_grad, CPU, DiagGradKernel, Inexact);
PHI_REGISTER_KERNEL(diagonal, CPU, DiagonalKernel, EveryType);
PHI_REGISTER_KERNEL(diagonal_grad, CPU, DiagonalGradKernel, Inexact);
PHI_REGISTER_KERNEL(diag_embed, CPU, DiagEmbedKernel, EveryType);
PHI_REGISTER_KERNEL(fill_diagonal, CPU, FillDiagonalKernel, EveryType);
PHI_REGISTER_KERNEL(fill_diagonal_tensor, CPU, FillDiagonalTensorKernel, EveryType);

}  // namespace phi
