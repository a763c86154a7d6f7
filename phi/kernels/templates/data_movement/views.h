// Windows, strided views and rows. Elements of windows and strided views may overlap, so their
// gradients are sums.
#pragma once

#include "phi/common/inexact.h"
#include "phi/generated/kernels/views.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

/// `windows` are the dims of the result, with the windows in the last tensor dim.
Pieces windows_of(const Dims& input, const Dims& windows, int64_t axis, int64_t step) {
  const Dims strides = input.strides();
  const Dims window_strides = windows.strides();
  const int last = input.ndim();
  Pieces pieces;
  const int at = last == 0 ? -1 : normalise_axis(axis, last, input);
  for (int d = 0; d < last; ++d) {
    // A single window needs no step; the step may be larger than the array.
    const int64_t by = d == at && windows[d] > 1 ? step : 1;
    pieces.append(windows[d], {window_strides[d], by * strides[d]});
  }
  pieces.append(windows[last], {window_strides[last], at < 0 ? 1 : strides[at]});
  return pieces;
}

Pieces strided_view(const Dims& view, const std::vector<int64_t>& strides, int64_t offset) {
  const Dims own = view.strides();
  Pieces pieces({0, offset});
  for (int d = 0; d < view.ndim(); ++d) {
    pieces.append(view[d], {own[d], view[d] > 1 ? strides[static_cast<size_t>(d)] : 1});
  }
  return pieces;
}

}  // namespace

template <typename T, typename Context>
void TensorUnfoldKernel(const Context& ctx, const DenseTensor& input, int64_t axis, int64_t step,
                        DenseTensor* out) {
  copy_pieces<T>(ctx, windows_of(input.dims(), out->dims(), axis, step), input, out);
}

template <typename T, typename Context>
void TensorUnfoldGradKernel(const Context& ctx, const DenseTensor& out_grad, int64_t axis,
                            int64_t step, DenseTensor* input_grad) {
  sum_pieces_back<T>(ctx, windows_of(input_grad->dims(), out_grad.dims(), axis, step), out_grad,
                     input_grad);
}

template <typename T, typename Context>
void AsStridedKernel(const Context& ctx, const DenseTensor& input,
                     const std::vector<int64_t>& stride, int64_t offset, DenseTensor* out) {
  copy_pieces<T>(ctx, strided_view(out->dims(), stride, offset), input, out);
}

template <typename T, typename Context>
void AsStridedGradKernel(const Context& ctx, const DenseTensor& out_grad,
                         const std::vector<int64_t>& stride, int64_t offset,
                         DenseTensor* input_grad) {
  sum_pieces_back<T>(ctx, strided_view(out_grad.dims(), stride, offset), out_grad, input_grad);
}

template <typename T, typename Context>
void ViewSliceKernel(const Context& ctx, const DenseTensor& input, int64_t begin_idx,
                     DenseTensor* out) {
  Pieces pieces({0, begin_idx * input.dims().numel(1, input.ndim())});
  pieces.append(out->numel(), {1, 1});
  copy_pieces<T>(ctx, pieces, input, out);
}

PHI_REGISTER_KERNEL(view_slice, PHI_DEVICE, ViewSliceKernel, EveryType);
PHI_REGISTER_KERNEL(tensor_unfold, PHI_DEVICE, TensorUnfoldKernel, EveryType);
PHI_REGISTER_KERNEL(tensor_unfold_grad, PHI_DEVICE, TensorUnfoldGradKernel, Inexact);
PHI_REGISTER_KERNEL(as_strided, PHI_DEVICE, AsStridedKernel, EveryType);
PHI_REGISTER_KERNEL(as_strided_grad, PHI_DEVICE, AsStridedGradKernel, Inexact);

}  // namespace phi
