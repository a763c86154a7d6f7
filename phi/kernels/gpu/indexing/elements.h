// Element-wise gather and scatter along an axis on a GPU, as in take_along_axis. The CPU version is
// cpu/indexing/element_positions.h.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/gpu/indexing/index_positions.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/gpu/indexing/slices.h"

namespace phi {
namespace gpu {

/// Groups the indexed elements by target. `named.indices` select elements of an array of dims
/// `array`. Each index belongs to the element at its position in an array of dims `second`, which
/// is at least as large as the indices. Returns, for each element of the first array, the offsets
/// in the second array of the elements that belong to it, in index order.
PositionsBySlice positions_by_element(const GpuContext& ctx, const Dims& array,
                                      const ElementAxis& named, const Dims& second);
/// second[..] = array[the element that the index selects].
void take_elements(const GpuContext& ctx, const DenseTensor& array, const ElementAxis& named,
                   DenseTensor* second);

}  // namespace gpu

/// out = the elements of `arr` that `indices` select along `axis`.
template <typename T>
void take_elements(const GpuContext& ctx, const DenseTensor& arr, const DenseTensor& indices,
                   int axis, const char* name, FromEnd from_end, DenseTensor* out) {
  gpu::take_elements(ctx, arr, {indices, name, from_end, axis}, out);
}

/// Gradient of take_elements: adds out_grad to the selected elements. Half-precision terms are
/// added in float.
template <typename T>
void add_elements(const GpuContext& ctx, const DenseTensor& indices, int axis,
                  const DenseTensor& out_grad, DenseTensor* arr_grad) {
  T* to = arr_grad->mutable_data<T>();
  const gpu::ElementAxis named{indices, "indices", FromEnd::kYes, axis};
  const auto positions = gpu::positions_by_element(ctx, arr_grad->dims(), named, out_grad.dims());
  gpu::add_positions<T>(ctx, SumsFrom::kZero, {1, arr_grad->numel(), 1}, positions,
                        out_grad.numel(), to, out_grad.data<T>(), to);
}

}  // namespace phi
