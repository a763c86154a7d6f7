// Kernels that flip, shift, repeat and slice. Each describes its moves as pieces
// (kernels/pieces.h). The axes that they change are unsharded.
#pragma once

#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/generated/kernels/data_movement.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/data_movement.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

template <typename Axes>
Pieces flipped(const Dims& dims, const Axes& axes) {
  AxisSet turned;
  for (int64_t axis : axes) turned.add(normalise_axis(axis, dims.ndim(), dims));
  const Dims strides = dims.strides();
  Pieces pieces;
  for (int d = 0; d < dims.ndim(); ++d) {
    const IndexRun run =
        turned.has(d) ? IndexRun{0, dims[d] - 1, dims[d], -1} : IndexRun{0, 0, dims[d], 1};
    pieces.append({run}, {strides[d], strides[d]});
  }
  return pieces;
}

/// Moves index i of `size` to (i + shift) modulo size.
std::vector<IndexRun> rolled(int64_t size, int64_t shift) {
  if (size == 0) return {};
  const int64_t by = (shift % size + size) % size;
  if (by == 0) return {{0, 0, size, 1}};
  return {{0, size - by, by, 1}, {by, 0, size - by, 1}};
}

Pieces strided(const Dims& x, const Dims& out, const std::vector<int>& axes, const IntArray& starts,
               const IntArray& ends, const IntArray& steps) {
  std::vector<IndexRun> runs;
  for (int64_t extent : x) runs.push_back({0, 0, extent, 1});
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = normalise_axis(axes[i], x.ndim(), x, "axes");
    const int at = static_cast<int>(i);
    const auto [begin, count] = slice_steps(starts[at], ends[at], steps[at], x[d]);
    // A single element needs no step; the step may be larger than the array.
    runs[static_cast<size_t>(d)] = {0, begin, count, count > 1 ? steps[at] : 1};
  }
  const Dims x_strides = x.strides();
  const Dims out_strides = out.strides();
  Pieces pieces;
  for (int d = 0; d < x.ndim(); ++d) {
    pieces.append({runs[static_cast<size_t>(d)]}, {out_strides[d], x_strides[d]});
  }
  return pieces;
}

}  // namespace

template <typename T, typename Context>
void FlipKernel(const Context& ctx, const DenseTensor& x, const std::vector<int>& axis,
                DenseTensor* out) {
  copy_pieces<T>(ctx, flipped(x.dims(), axis), x, out);
}

template <typename T, typename Context>
void ReverseKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                   DenseTensor* out) {
  copy_pieces<T>(ctx, flipped(x.dims(), axis.values()), x, out);
}

template <typename T, typename Context>
void RollKernel(const Context& ctx, const DenseTensor& x, const IntArray& shifts,
                const std::vector<int64_t>& axis, DenseTensor* out) {
  Pieces pieces;
  if (axis.empty()) {
    pieces.append(rolled(x.numel(), shifts[0]), {1, 1});
    return copy_pieces<T>(ctx, pieces, x, out);
  }
  const Dims strides = x.dims().strides();
  Dims shift = Dims::filled(x.ndim(), 0);
  for (size_t i = 0; i < axis.size(); ++i) {
    const int d = normalise_axis(axis[i], x.ndim(), x.dims());
    const int64_t extent = std::max<int64_t>(1, x.dims()[d]);
    shift[d] += shifts[static_cast<int>(i)] % extent;
  }
  for (int d = 0; d < x.ndim(); ++d) {
    pieces.append(rolled(x.dims()[d], shift[d]), {strides[d], strides[d]});
  }
  copy_pieces<T>(ctx, pieces, x, out);
}

/// The shapes determine how often each tensor dim is repeated.
template <typename T, typename Context>
void TileKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int added = out->ndim() - x.ndim();
  const Dims x_strides = x.dims().strides();
  const Dims out_strides = out->dims().strides();
  Pieces pieces;
  for (int d = 0; d < out->ndim(); ++d) {
    const int64_t extent = d < added ? 1 : x.dims()[d - added];
    pieces.append(out->dims()[d] / extent, {extent * out_strides[d], 0});
    if (d >= added) pieces.append(extent, {out_strides[d], x_strides[d - added]});
  }
  copy_pieces<T>(ctx, pieces, x, out);
}

template <typename T, typename Context>
void RepeatInterleaveKernel(const Context& ctx, const DenseTensor& x, int repeats, int axis,
                            DenseTensor* out) {
  const int d = normalise_axis(axis, x.ndim(), x.dims());
  const int64_t inner = x.dims().numel(d + 1, x.ndim());
  Pieces pieces;
  pieces.append(x.dims().numel(0, d + 1), {repeats * inner, inner});
  pieces.append(repeats, {inner, 0});
  pieces.append(inner, {1, 1});
  copy_pieces<T>(ctx, pieces, x, out);
}

template <typename T, typename Context>
void CropKernel(const Context& ctx, const DenseTensor& x, const IntArray& offsets,
                DenseTensor* out) {
  const Dims x_strides = x.dims().strides();
  const Dims out_strides = out->dims().strides();
  Pieces pieces;
  for (int d = 0; d < x.ndim(); ++d) {
    pieces.append({{0, offsets[d], out->dims()[d], 1}}, {out_strides[d], x_strides[d]});
  }
  copy_pieces<T>(ctx, pieces, x, out);
}

template <typename T, typename Context>
void StridedSliceKernel(const Context& ctx, const DenseTensor& x, const std::vector<int>& axes,
                        const IntArray& starts, const IntArray& ends, const IntArray& strides,
                        DenseTensor* out) {
  copy_pieces<T>(ctx, strided(x.dims(), out->dims(), axes, starts, ends, strides), x, out);
}

template <typename T, typename Context>
void StridedSliceGradKernel(const Context& ctx, const DenseTensor& out_grad,
                            const std::vector<int>& axes, const IntArray& starts,
                            const IntArray& ends, const IntArray& strides, DenseTensor* x_grad) {
  copy_pieces_back<T>(ctx, strided(x_grad->dims(), out_grad.dims(), axes, starts, ends, strides),
                      out_grad, x_grad);
}

PHI_REGISTER_KERNEL(flip, PHI_DEVICE, FlipKernel, EveryType);
PHI_REGISTER_KERNEL(reverse, PHI_DEVICE, ReverseKernel, EveryType);
PHI_REGISTER_KERNEL(roll, PHI_DEVICE, RollKernel, EveryType);
PHI_REGISTER_KERNEL(tile, PHI_DEVICE, TileKernel, EveryType);
PHI_REGISTER_KERNEL(repeat_interleave, PHI_DEVICE, RepeatInterleaveKernel, EveryType);
PHI_REGISTER_KERNEL(crop, PHI_DEVICE, CropKernel, EveryType);
PHI_REGISTER_KERNEL(strided_slice, PHI_DEVICE, StridedSliceKernel, EveryType);
PHI_REGISTER_KERNEL(strided_slice_grad, PHI_DEVICE, StridedSliceGradKernel, Inexact);

}  // namespace phi
