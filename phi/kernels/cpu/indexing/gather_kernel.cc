// Reading of elements and slices at positions on the CPU: gather_nd, index_select,
// index_select_strided, index_sample, take_along_axis; and their gradients, which add up where a
// position was read.
#include <algorithm>
#include <array>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/element_width.h"
#include "phi/kernels/cpu/indexing/element_places.h"
#include "phi/kernels/cpu/indexing/places.h"
#include "phi/kernels/cpu/indexing/slices.h"

namespace phi {
namespace {

template <typename T>
void read(const Slices& slices, Places places, const DenseTensor& x, DenseTensor* out) {
  using W = width_t<T>;
  read_slices(slices, places, static_cast<const W*>(x.raw_data()),
              static_cast<W*>(out->mutable_raw_data()));
}

/// What was read is added up.
template <typename T>
void add_read(const Slices& slices, Places places, const DenseTensor& out_grad,
              DenseTensor* x_grad) {
  SliceSums<T>(slices, places).run(SumsFrom::kZero, out_grad.data<T>(), x_grad->mutable_data<T>());
}

/// The one place that an attribute names.
std::array<int64_t, 1> place_at(int64_t index, int64_t extent) {
  return {from_front(index, extent)};
}

template <typename T>
void take_elements(const DenseTensor& arr, const DenseTensor& indices, int axis,
                   std::string_view name, FromEnd from_end, DenseTensor* out) {
  using W = width_t<T>;
  const auto* from = static_cast<const W*>(arr.raw_data());
  auto* to = static_cast<W*>(out->mutable_raw_data());
  const ElementPlaces places(arr.dims(), indices.dims(), out->dims(), axis);
  places.for_each({indices, name, arr.dims()[axis], from_end},
                  [=](int64_t in_arr, int64_t in_out) { to[in_out] = from[in_arr]; });
}

}  // namespace

/// The first tensor dims of x, as many as index has columns, are whole.
template <typename T, typename Context>
void GatherNdKernel(const Context&, const DenseTensor& x, const DenseTensor& index,
                    DenseTensor* out) {
  const auto named = static_cast<int>(index.dims().back());
  read<T>(Slices::of_first(x.dims(), named), places_of_first(index, x.dims()), x, out);
}

template <typename T, typename Context>
void GatherNdGradKernel(const Context&, const DenseTensor& index, const DenseTensor& out_grad,
                        DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const auto named = static_cast<int>(index.dims().back());
  add_read<T>(Slices::of_first(dims, named), places_of_first(index, dims), out_grad, x_grad);
}

/// `axis` is whole.
template <typename T, typename Context>
void IndexSelectKernel(const Context&, const DenseTensor& x, const DenseTensor& index, int axis,
                       DenseTensor* out) {
  const Slices slices = Slices::along(x.dims(), normalise_axis(axis, x.ndim(), x.dims()));
  read<T>(slices, places_along(index, "index", slices.extent, FromEnd::kYes), x, out);
}

template <typename T, typename Context>
void IndexSelectGradKernel(const Context&, const DenseTensor& index, const DenseTensor& out_grad,
                           int axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const Slices slices = Slices::along(dims, normalise_axis(axis, dims.ndim(), dims));
  add_read<T>(slices, places_along(index, "index", slices.extent, FromEnd::kYes), out_grad, x_grad);
}

/// `axis` is whole.
template <typename T, typename Context>
void IndexSelectStridedKernel(const Context&, const DenseTensor& x, int64_t index, int axis,
                              DenseTensor* out) {
  const Slices slices = Slices::along(x.dims(), normalise_axis(axis, x.ndim(), x.dims()));
  read<T>(slices, place_at(index, slices.extent), x, out);
}

template <typename T, typename Context>
void IndexSelectStridedGradKernel(const Context&, const DenseTensor& out_grad, int64_t index,
                                  int axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const Slices slices = Slices::along(dims, normalise_axis(axis, dims.ndim(), dims));
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T{});
  put_slices(slices, place_at(index, slices.extent), out_grad.data<T>(), to);
}

/// Rows of x are whole.
template <typename T, typename Context>
void IndexSampleKernel(const Context&, const DenseTensor& x, const DenseTensor& index,
                       DenseTensor* out) {
  take_elements<T>(x, index, 1, "index", FromEnd::kNo, out);
}

/// `axis` of arr is whole.
template <typename T, typename Context>
void TakeAlongAxisKernel(const Context&, const DenseTensor& arr, const DenseTensor& indices,
                         int axis, DenseTensor* out) {
  const int at = normalise_axis(axis, arr.ndim(), arr.dims());
  take_elements<T>(arr, indices, at, "indices", FromEnd::kYes, out);
}

/// Also of index_sample.
template <typename T, typename Context>
void TakeAlongAxisGradKernel(const Context&, const DenseTensor& indices,
                             const DenseTensor& out_grad, int axis, DenseTensor* arr_grad) {
  using C = compute_t<T>;
  const Dims& dims = arr_grad->dims();
  const int at = normalise_axis(axis, dims.ndim(), dims);
  const T* from = out_grad.data<T>();
  std::vector<C> wide(kIs16Bit<T> ? static_cast<size_t>(arr_grad->numel()) : 0);
  C* sums = wide.data();
  if constexpr (!kIs16Bit<T>) sums = arr_grad->mutable_data<T>();
  std::fill_n(sums, arr_grad->numel(), C(0));
  const ElementPlaces places(dims, indices.dims(), out_grad.dims(), at);
  places.for_each(
      {indices, "indices", dims[at], FromEnd::kYes},
      [=](int64_t in_arr, int64_t in_out) { sums[in_arr] += static_cast<C>(from[in_out]); });
  if constexpr (kIs16Bit<T>) convert(sums, arr_grad->mutable_data<T>(), arr_grad->numel());
}

using Differentiable = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(gather_nd, CPU, GatherNdKernel, EveryType);
PHI_REGISTER_KERNEL(gather_nd_grad, CPU, GatherNdGradKernel, Differentiable);
PHI_REGISTER_KERNEL(index_select, CPU, IndexSelectKernel, EveryType);
PHI_REGISTER_KERNEL(index_select_grad, CPU, IndexSelectGradKernel, Differentiable);
PHI_REGISTER_KERNEL(index_select_strided, CPU, IndexSelectStridedKernel, EveryType);
PHI_REGISTER_KERNEL(index_select_strided_grad, CPU, IndexSelectStridedGradKernel, Differentiable);
PHI_REGISTER_KERNEL(index_sample, CPU, IndexSampleKernel, EveryType);
PHI_REGISTER_KERNEL(take_along_axis, CPU, TakeAlongAxisKernel, EveryType);
PHI_REGISTER_KERNEL(take_along_axis_grad, CPU, TakeAlongAxisGradKernel, Differentiable);

}  // namespace phi
