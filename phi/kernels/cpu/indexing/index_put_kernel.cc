// index_put on the CPU, and its gradient. out may be x.
#include <algorithm>
#include <array>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/indexing/index_positions.h"
#include "phi/kernels/cpu/indexing/slices.h"
#include "phi/kernels/cpu/loops/broadcast.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/element_width.h"

namespace phi {
namespace {

/// Returns the shape of the elements that index_put selects.
Dims named_shape(const IndexedPositions& named, const Dims& dims) {
  Dims shape = named.shape;
  for (int d = named.named_dims; d < dims.ndim(); ++d) shape.push_back(dims[d]);
  return shape;
}

void check_value(const Dims& value, const Dims& named) {
  PHI_CHECK(
      broadcast_dims(value, named, "value", "x[indices]") == named,
      errors::InvalidArgument("value has shape {}, but x[indices] is {}; reshape or slice it.",
                              value.to_string(), named.to_string()));
}

/// Returns `value` broadcast to `shape`.
template <typename T>
DenseTensor broadcast_value(const DenseTensor& value, const Dims& shape) {
  if (value.numel() == shape.numel()) return value;
  DenseTensor full = scratch_array({shape, value.dtype()}, value.place());
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

/// Sums `full`, to whose shape value was broadcast, into value_grad.
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

/// The indexed tensor dims of x must be whole on this rank.
///
/// Errors   InvalidArgument if value does not broadcast to the shape of the indexed elements.
template <typename T, typename Context>
void IndexPutKernel(const Context& ctx, const DenseTensor& x,
                    std::span<const DenseTensor* const> indices, const DenseTensor& value,
                    bool accumulate, DenseTensor* out) {
  const IndexedPositions named = positions_of_indices(indices, x.dims());
  const Dims shape = named_shape(named, x.dims());
  check_value(value.dims(), shape);
  const DenseTensor full = broadcast_value<T>(value, shape);
  const Slices slices = Slices::of_first(x.dims(), named.named_dims);
  if (accumulate) {
    return add_slices(ctx, SumsFrom::kExisting, slices, named.places, x.data<T>(), full.data<T>(),
                      out->mutable_data<T>());
  }
  keep(x, out);
  using W = width_t<T>;
  put_slices(slices, named.places, static_cast<const W*>(full.raw_data()),
             static_cast<W*>(out->mutable_raw_data()));
}

/// Without `accumulate`, if several values are assigned to one place, only the last one has a
/// gradient.
template <typename T, typename Context>
void IndexPutGradKernel(const Context&, std::span<const DenseTensor* const> indices,
                        const DenseTensor& out_grad, bool accumulate, DenseTensor* x_grad,
                        DenseTensor* value_grad) {
  const IndexedPositions named = positions_of_indices(indices, out_grad.dims());
  const Slices slices = Slices::of_first(out_grad.dims(), named.named_dims);
  if (x_grad) {
    keep(out_grad, x_grad);
    if (!accumulate) fill_slices(slices, named.places, T{}, x_grad->mutable_data<T>());
  }
  if (!value_grad) return;
  const Dims shape = named_shape(named, out_grad.dims());
  check_value(value_grad->dims(), shape);
  std::vector<T> full(static_cast<size_t>(shape.numel()));
  const auto places = accumulate ? named.places : last_named(slices, named.places);
  read_slices(slices, places, out_grad.data<T>(), full.data());
  sum_to_value(full, shape, value_grad);
}

PHI_REGISTER_KERNEL(index_put, CPU, IndexPutKernel, EveryType);
using CpuIndexPutGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(index_put_grad, CPU, IndexPutGradKernel, CpuIndexPutGradTypes);

}  // namespace phi
