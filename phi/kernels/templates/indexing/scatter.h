// Kernels that write slices at positions: scatter, scatter_nd_add and index_add, with their
// gradients. out may be x.
#pragma once

#include <span>

#include "phi/common/errors.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/slices.h"

namespace phi {
namespace {

template <typename T, typename Context, typename PlaceList>
void put(const Context& ctx, const Slices& slices, const PlaceList& places, const DenseTensor& from,
         DenseTensor* out) {
  using W = width_t<T>;
  put_slices(ctx, slices, places, static_cast<const W*>(from.raw_data()),
             static_cast<W*>(out->mutable_raw_data()));
}

/// out = x plus the slices of `from`, at `places`.
template <typename T, typename Context, typename PlaceList>
void add(const Context& ctx, SumsFrom start, const Slices& slices, const PlaceList& places,
         const DenseTensor& x, const DenseTensor& from, DenseTensor* out) {
  add_slices<T>(ctx, start, slices, places, x.data<T>(), from.data<T>(), out->mutable_data<T>());
}

/// The gradients of `add`: x_grad is out_grad, and updates_grad is out_grad at `places`.
template <typename T, typename Context, typename PlaceList>
void add_grad(const Context& ctx, const Slices& slices, const PlaceList& places,
              const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* updates_grad) {
  if (x_grad) keep(ctx, out_grad, x_grad);
  if (updates_grad) {
    using W = width_t<T>;
    read_slices(ctx, slices, places, static_cast<const W*>(out_grad.raw_data()),
                static_cast<W*>(updates_grad->mutable_raw_data()));
  }
}

/// The rows in `index`, which may count from the end.
template <typename Context>
auto rows_of(const Context& ctx, const DenseTensor& index, const Dims& dims) {
  return positions_along(ctx, index, "index", dims[0], FromEnd::kYes);
}

}  // namespace

/// With `overwrite`, replaces the rows of x in index by updates (by the last of several for one
/// row); otherwise by the sum of their updates. Rows must be unsharded.
template <typename T, typename Context>
void ScatterKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                   const DenseTensor& updates, bool overwrite, DenseTensor* out) {
  const auto rows = rows_of(ctx, index, x.dims());
  const Slices slices = Slices::along(x.dims(), 0);
  if (!overwrite) return add<T>(ctx, SumsFrom::kWritten, slices, rows, x, updates, out);
  keep(ctx, x, out);
  put<T>(ctx, slices, rows, updates, out);
}

/// With `overwrite`, only the last of several updates of a row has a gradient.
template <typename T, typename Context>
void ScatterGradKernel(const Context& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                       bool overwrite, DenseTensor* x_grad, DenseTensor* updates_grad) {
  const auto rows = rows_of(ctx, index, out_grad.dims());
  const Slices slices = Slices::along(out_grad.dims(), 0);
  add_grad<T>(ctx, slices, overwrite ? last_named(ctx, slices, rows) : rows, out_grad, x_grad,
              updates_grad);
  if (x_grad) clear_slices(ctx, slices, rows, x_grad->mutable_data<T>());
}

/// The tensor dims of x that index selects must be unsharded.
template <typename T, typename Context>
void ScatterNdAddKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                        const DenseTensor& updates, DenseTensor* out) {
  const auto places = positions_of_first(ctx, index, x.dims());
  const auto named = static_cast<int>(index.dims().back());
  add<T>(ctx, SumsFrom::kExisting, Slices::of_first(x.dims(), named), places, x, updates, out);
}

template <typename T, typename Context>
void ScatterNdAddGradKernel(const Context& ctx, const DenseTensor& index,
                            const DenseTensor& out_grad, DenseTensor* x_grad,
                            DenseTensor* updates_grad) {
  const auto places = positions_of_first(ctx, index, out_grad.dims());
  const auto named = static_cast<int>(index.dims().back());
  add_grad<T>(ctx, Slices::of_first(out_grad.dims(), named), places, out_grad, x_grad,
              updates_grad);
}

/// `axis` must be unsharded.
template <typename T, typename Context>
void IndexAddKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                    const DenseTensor& add_value, int axis, DenseTensor* out) {
  const Slices slices = Slices::along(x.dims(), normalise_axis(axis, x.ndim(), x.dims()));
  const auto places = positions_along(ctx, index, "index", slices.extent, FromEnd::kYes);
  add<T>(ctx, SumsFrom::kExisting, slices, places, x, add_value, out);
}

template <typename T, typename Context>
void IndexAddGradKernel(const Context& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                        int axis, DenseTensor* x_grad, DenseTensor* add_value_grad) {
  const Dims& dims = out_grad.dims();
  const Slices slices = Slices::along(dims, normalise_axis(axis, dims.ndim(), dims));
  const auto places = positions_along(ctx, index, "index", slices.extent, FromEnd::kYes);
  add_grad<T>(ctx, slices, places, out_grad, x_grad, add_value_grad);
}

using ScatterGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(scatter, PHI_DEVICE, ScatterKernel, EveryType);
PHI_REGISTER_KERNEL(scatter_grad, PHI_DEVICE, ScatterGradKernel, ScatterGradTypes);
PHI_REGISTER_KERNEL(scatter_nd_add, PHI_DEVICE, ScatterNdAddKernel, EveryType);
PHI_REGISTER_KERNEL(scatter_nd_add_grad, PHI_DEVICE, ScatterNdAddGradKernel, ScatterGradTypes);
PHI_REGISTER_KERNEL(index_add, PHI_DEVICE, IndexAddKernel, EveryType);
PHI_REGISTER_KERNEL(index_add_grad, PHI_DEVICE, IndexAddGradKernel, ScatterGradTypes);

}  // namespace phi
