// Writing of slices at positions on the CPU: scatter, scatter_nd_add, index_add, index_put; and
// their gradients. out may be x.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/element_width.h"
#include "phi/kernels/cpu/elementwise/broadcast.h"
#include "phi/kernels/cpu/indexing/places.h"
#include "phi/kernels/cpu/indexing/slices.h"

namespace phi {
namespace {

void copy_all(const DenseTensor& from, DenseTensor* to) {
  if (from.numel() == 0 || from.raw_data() == to->raw_data()) return;
  std::memcpy(to->mutable_raw_data(), from.raw_data(), from.nbytes());
}

template <typename T>
void put(const Slices& slices, Places places, const DenseTensor& from, DenseTensor* out) {
  using W = width_t<T>;
  put_slices(slices, places, static_cast<const W*>(from.raw_data()),
             static_cast<W*>(out->mutable_raw_data()));
}

/// out = x with slices of `from` added.
template <typename T>
void add(SumsFrom start, const Slices& slices, Places places, const DenseTensor& x,
         const DenseTensor& from, DenseTensor* out) {
  SliceSums<T>(slices, places).run(start, x.data<T>(), from.data<T>(), out->mutable_data<T>());
}

/// Of updates that are added at places: x_grad is out_grad, and updates_grad what is there.
template <typename T>
void add_grad(const Slices& slices, Places places, const DenseTensor& out_grad, DenseTensor* x_grad,
              DenseTensor* updates_grad) {
  if (x_grad) copy_all(out_grad, x_grad);
  if (updates_grad) {
    read_slices(slices, places, out_grad.data<T>(), updates_grad->mutable_data<T>());
  }
}

std::vector<int64_t> rows_of(const DenseTensor& index, const Dims& dims) {
  return places_along(index, "index", dims[0], FromEnd::kNo);
}

/// The shape of all elements that index_put names.
Dims named_shape(const NamedPlaces& named, const Dims& dims) {
  Dims shape = named.shape;
  for (int d = named.named_dims; d < dims.ndim(); ++d) shape.push_back(dims[d]);
  return shape;
}

void check_value(const Dims& value, const Dims& named) {
  PHI_CHECK(broadcast_dims(value, named, "value", "what indices name") == named,
            errors::InvalidArgument("value has shape {}, but what indices name is {}; reshape or "
                                    "slice it.",
                                    value.to_string(), named.to_string()));
}

/// `value` with an element for each of `shape`.
template <typename T>
DenseTensor broadcast_value(const DenseTensor& value, const Dims& shape) {
  if (value.numel() == shape.numel()) return value;
  DenseTensor full = DenseTensor::empty({shape, value.dtype()}, value.place());
  if (shape.numel() == 0) return full;
  const T* from = value.data<T>();
  T* to = full.mutable_data<T>();
  const Broadcast<1> walk(shape, {&value.dims()});
  const int64_t step = walk.inner_stride(0);
  walk.for_each_row([&](int64_t at, const std::array<int64_t, 1>& own, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[at + i] = from[own[0] + i * step];
  });
  return full;
}

/// value_grad gets the sum of `full`, whose shape it was broadcast to.
template <typename T>
void sum_to_value(const std::vector<T>& full, const Dims& shape, DenseTensor* value_grad) {
  using C = compute_t<T>;
  std::vector<C> sums(static_cast<size_t>(value_grad->numel()), C(0));
  if (!full.empty()) {
    const Broadcast<1> walk(shape, {&value_grad->dims()});
    const int64_t step = walk.inner_stride(0);
    walk.for_each_row([&](int64_t at, const std::array<int64_t, 1>& own, int64_t count) {
      C* to = sums.data() + own[0];
      const T* from = full.data() + at;
      for (int64_t i = 0; i < count; ++i) to[i * step] += static_cast<C>(from[i]);
    });
  }
  convert(sums.data(), value_grad->mutable_data<T>(), value_grad->numel());
}

}  // namespace

/// With `overwrite` the rows of x that index names become those of updates (of several for one the
/// last), else the sum of those. Rows are whole.
template <typename T, typename Context>
void ScatterKernel(const Context&, const DenseTensor& x, const DenseTensor& index,
                   const DenseTensor& updates, bool overwrite, DenseTensor* out) {
  const auto rows = rows_of(index, x.dims());
  const Slices slices = Slices::along(x.dims(), 0);
  if (!overwrite) return add<T>(SumsFrom::kWritten, slices, rows, x, updates, out);
  copy_all(x, out);
  put<T>(slices, rows, updates, out);
}

template <typename T, typename Context>
void ScatterGradKernel(const Context&, const DenseTensor& index, const DenseTensor& out_grad,
                       DenseTensor* x_grad, DenseTensor* updates_grad) {
  const auto rows = rows_of(index, out_grad.dims());
  const Slices slices = Slices::along(out_grad.dims(), 0);
  add_grad<T>(slices, rows, out_grad, x_grad, updates_grad);
  if (x_grad) fill_slices(slices, rows, T{}, x_grad->mutable_data<T>());
}

/// The tensor dims of x that index names are whole.
template <typename T, typename Context>
void ScatterNdAddKernel(const Context&, const DenseTensor& x, const DenseTensor& index,
                        const DenseTensor& updates, DenseTensor* out) {
  const auto places = places_of_first(index, x.dims());
  const auto named = static_cast<int>(index.dims().back());
  add<T>(SumsFrom::kWhatIsThere, Slices::of_first(x.dims(), named), places, x, updates, out);
}

template <typename T, typename Context>
void ScatterNdAddGradKernel(const Context&, const DenseTensor& index, const DenseTensor& out_grad,
                            DenseTensor* x_grad, DenseTensor* updates_grad) {
  const auto places = places_of_first(index, out_grad.dims());
  const auto named = static_cast<int>(index.dims().back());
  add_grad<T>(Slices::of_first(out_grad.dims(), named), places, out_grad, x_grad, updates_grad);
}

/// `axis` is whole.
template <typename T, typename Context>
void IndexAddKernel(const Context&, const DenseTensor& x, const DenseTensor& index,
                    const DenseTensor& add_value, int axis, DenseTensor* out) {
  const Slices slices = Slices::along(x.dims(), normalise_axis(axis, x.ndim(), x.dims()));
  const auto places = places_along(index, "index", slices.extent, FromEnd::kYes);
  add<T>(SumsFrom::kWhatIsThere, slices, places, x, add_value, out);
}

template <typename T, typename Context>
void IndexAddGradKernel(const Context&, const DenseTensor& index, const DenseTensor& out_grad,
                        int axis, DenseTensor* x_grad, DenseTensor* add_value_grad) {
  const Dims& dims = out_grad.dims();
  const Slices slices = Slices::along(dims, normalise_axis(axis, dims.ndim(), dims));
  const auto places = places_along(index, "index", slices.extent, FromEnd::kYes);
  add_grad<T>(slices, places, out_grad, x_grad, add_value_grad);
}

/// The tensor dims of x that indices name are whole. Errors: InvalidArgument if value does not
/// broadcast to what they name.
template <typename T, typename Context>
void IndexPutKernel(const Context&, const DenseTensor& x,
                    std::span<const DenseTensor* const> indices, const DenseTensor& value,
                    bool accumulate, DenseTensor* out) {
  const NamedPlaces named = places_of_indices(indices, x.dims());
  const Dims shape = named_shape(named, x.dims());
  check_value(value.dims(), shape);
  const DenseTensor full = broadcast_value<T>(value, shape);
  const Slices slices = Slices::of_first(x.dims(), named.named_dims);
  if (accumulate) return add<T>(SumsFrom::kWhatIsThere, slices, named.places, x, full, out);
  copy_all(x, out);
  put<T>(slices, named.places, full, out);
}

template <typename T, typename Context>
void IndexPutGradKernel(const Context&, std::span<const DenseTensor* const> indices,
                        const DenseTensor& out_grad, bool accumulate, DenseTensor* x_grad,
                        DenseTensor* value_grad) {
  const NamedPlaces named = places_of_indices(indices, out_grad.dims());
  const Slices slices = Slices::of_first(out_grad.dims(), named.named_dims);
  if (x_grad) {
    copy_all(out_grad, x_grad);
    if (!accumulate) fill_slices(slices, named.places, T{}, x_grad->mutable_data<T>());
  }
  if (!value_grad) return;
  const Dims shape = named_shape(named, out_grad.dims());
  check_value(value_grad->dims(), shape);
  std::vector<T> full(static_cast<size_t>(shape.numel()));
  read_slices(slices, named.places, out_grad.data<T>(), full.data());
  sum_to_value(full, shape, value_grad);
}

using Differentiable = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(scatter, CPU, ScatterKernel, EveryType);
PHI_REGISTER_KERNEL(scatter_grad, CPU, ScatterGradKernel, Differentiable);
PHI_REGISTER_KERNEL(scatter_nd_add, CPU, ScatterNdAddKernel, EveryType);
PHI_REGISTER_KERNEL(scatter_nd_add_grad, CPU, ScatterNdAddGradKernel, Differentiable);
PHI_REGISTER_KERNEL(index_add, CPU, IndexAddKernel, EveryType);
PHI_REGISTER_KERNEL(index_add_grad, CPU, IndexAddGradKernel, Differentiable);
PHI_REGISTER_KERNEL(index_put, CPU, IndexPutKernel, EveryType);
PHI_REGISTER_KERNEL(index_put_grad, CPU, IndexPutGradKernel, Differentiable);

}  // namespace phi
