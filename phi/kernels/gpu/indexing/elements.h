// Elements that indices name one by one along an axis of an array, on a GPU, as take_along_axis has
// them. The CPU's are cpu/indexing/element_places.h.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/gpu/indexing/places.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/gpu/indexing/slices.h"

namespace phi {
namespace gpu {

/// Named.indices name elements of an array of dims `array`; to each belongs one of an array of dims
/// `second`, which has an element for each index, or more: for each element of the array the
/// offsets of those in the second one, in the order of the indices.
PositionsBySlice positions_by_element(const GpuContext& ctx, const Dims& array,
                                      const ElementAxis& named, const Dims& second);
/// second[..] = array[the element that the index names].
void take_elements(const GpuContext& ctx, const DenseTensor& array, const ElementAxis& named,
                   DenseTensor* second);

}  // namespace gpu

/// out = the elements of arr that indices name along `axis`.
template <typename T>
void take_elements(const GpuContext& ctx, const DenseTensor& arr, const DenseTensor& indices,
                   int axis, const char* name, FromEnd from_end, DenseTensor* out) {
  gpu::take_elements(ctx, arr, {indices, name, from_end, axis}, out);
}

/// The gradient: what was taken is added up, 16-bit floats as float.
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
