// Kernels that read elements and slices at positions: gather_nd, index_select,
// index_select_strided, index_sample and take_along_axis. Their gradients add to the positions that
// were read.
#pragma once

#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/slices.h"

namespace phi {
namespace {

template <typename T, typename Context, typename PlaceList>
void read(const Context& ctx, const Slices& slices, const PlaceList& places, const DenseTensor& x,
          DenseTensor* out) {
  using W = width_t<T>;
  read_slices(ctx, slices, places, static_cast<const W*>(x.raw_data()),
              static_cast<W*>(out->mutable_raw_data()));
}

/// The gradient of a read: adds out_grad to the positions that were read.
template <typename T, typename Context, typename PlaceList>
void add_read(const Context& ctx, const Slices& slices, const PlaceList& places,
              const DenseTensor& out_grad, DenseTensor* x_grad) {
  T* to = x_grad->mutable_data<T>();
  add_slices<T>(ctx, SumsFrom::kZero, slices, places, to, out_grad.data<T>(), to);
}

}  // namespace

/// The leading tensor dims of x, one per column of index, must be unsharded.
template <typename T, typename Context>
void GatherNdKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                    DenseTensor* out) {
  const auto named = static_cast<int>(index.dims().back());
  read<T>(ctx, Slices::of_first(x.dims(), named), positions_of_first(ctx, index, x.dims()), x, out);
}

template <typename T, typename Context>
void GatherNdGradKernel(const Context& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                        DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const auto named = static_cast<int>(index.dims().back());
  add_read<T>(ctx, Slices::of_first(dims, named), positions_of_first(ctx, index, dims), out_grad,
              x_grad);
}

/// `axis` must be unsharded.
template <typename T, typename Context>
void IndexSelectKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index, int axis,
                       DenseTensor* out) {
  const Slices slices = Slices::along(x.dims(), normalise_axis(axis, x.ndim(), x.dims()));
  read<T>(ctx, slices, positions_along(ctx, index, "index", slices.extent, FromEnd::kYes), x, out);
}

template <typename T, typename Context>
void IndexSelectGradKernel(const Context& ctx, const DenseTensor& index,
                           const DenseTensor& out_grad, int axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const Slices slices = Slices::along(dims, normalise_axis(axis, dims.ndim(), dims));
  add_read<T>(ctx, slices, positions_along(ctx, index, "index", slices.extent, FromEnd::kYes),
              out_grad, x_grad);
}

/// `axis` must be unsharded.
template <typename T, typename Context>
void IndexSelectStridedKernel(const Context& ctx, const DenseTensor& x, int64_t index, int axis,
                              DenseTensor* out) {
  const Slices slices = Slices::along(x.dims(), normalise_axis(axis, x.ndim(), x.dims()));
  read<T>(ctx, slices, place_at(ctx, index, slices.extent), x, out);
}

template <typename T, typename Context>
void IndexSelectStridedGradKernel(const Context& ctx, const DenseTensor& out_grad, int64_t index,
                                  int axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const Slices slices = Slices::along(dims, normalise_axis(axis, dims.ndim(), dims));
  T* to = x_grad->mutable_data<T>();
  fill(ctx, to, x_grad->numel(), T(0.0f));
  put_slices(ctx, slices, place_at(ctx, index, slices.extent), out_grad.data<T>(), to);
}

/// The rows of x must be unsharded.
template <typename T, typename Context>
void IndexSampleKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                       DenseTensor* out) {
  take_elements<T>(ctx, x, index, 1, "index", FromEnd::kNo, out);
}

/// `axis` of arr must be unsharded.
template <typename T, typename Context>
void TakeAlongAxisKernel(const Context& ctx, const DenseTensor& arr, const DenseTensor& indices,
                         int axis, DenseTensor* out) {
  const int at = normalise_axis(axis, arr.ndim(), arr.dims());
  take_elements<T>(ctx, arr, indices, at, "indices", FromEnd::kYes, out);
}

/// Also the gradient of index_sample.
template <typename T, typename Context>
void TakeAlongAxisGradKernel(const Context& ctx, const DenseTensor& indices,
                             const DenseTensor& out_grad, int axis, DenseTensor* arr_grad) {
  const Dims& dims = arr_grad->dims();
  add_elements<T>(ctx, indices, normalise_axis(axis, dims.ndim(), dims), out_grad, arr_grad);
}

using GatherGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(gather_nd, PHI_DEVICE, GatherNdKernel, EveryType);
PHI_REGISTER_KERNEL(gather_nd_grad, PHI_DEVICE, GatherNdGradKernel, GatherGradTypes);
PHI_REGISTER_KERNEL(index_select, PHI_DEVICE, IndexSelectKernel, EveryType);
PHI_REGISTER_KERNEL(index_select_grad, PHI_DEVICE, IndexSelectGradKernel, GatherGradTypes);
PHI_REGISTER_KERNEL(index_select_strided, PHI_DEVICE, IndexSelectStridedKernel, EveryType);
PHI_REGISTER_KERNEL(index_select_strided_grad, PHI_DEVICE, IndexSelectStridedGradKernel,
                    GatherGradTypes);
PHI_REGISTER_KERNEL(index_sample, PHI_DEVICE, IndexSampleKernel, EveryType);
PHI_REGISTER_KERNEL(take_along_axis, PHI_DEVICE, TakeAlongAxisKernel, EveryType);
PHI_REGISTER_KERNEL(take_along_axis_grad, PHI_DEVICE, TakeAlongAxisGradKernel, GatherGradTypes);

}  // namespace phi
