// Device primitives of the GPU, for the shared kernel templates in phi/kernels/templates.
// cpu/device_primitives.h has the same functions for the CPU.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/core/kernel_registry.h"
#include "phi/kernels/even_dims.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/gpu/check_elements.h"
#include "phi/kernels/gpu/data_movement/cast.h"
#include "phi/kernels/gpu/data_movement/fill.h"
#include "phi/kernels/gpu/elementwise/map.h"
#include "phi/kernels/gpu/reduce.h"

/// The kind of device for which shared kernels are registered.
#define PHI_DEVICE GPU

namespace phi {

/// out[i] = f(x[i]). Out is T or the result type of f; out may be x.
template <typename T, typename Out, typename F>
void unary_loop(const GpuContext& ctx, const T* x, Out* out, int64_t n, F f) {
  gpu::map(ctx, out, n, f, x);
}

/// out[i] = f(x[i], y[i]).
template <typename T, typename Out, typename F>
void binary_loop(const GpuContext& ctx, const T* x, const T* y, Out* out, int64_t n, F f) {
  gpu::map(ctx, out, n, f, x, y);
}

/// out[i] = f(x[i], y[i]), with x and y broadcast to `out_dims`.
template <typename T, typename Out, typename F>
void binary_loop(const GpuContext& ctx, const T* x, const Dims& x_dims, const T* y,
                 const Dims& y_dims, Out* out, const Dims& out_dims, F f) {
  if (x_dims == out_dims && y_dims == out_dims)
    return gpu::map(ctx, out, out_dims.numel(), f, x, y);
  gpu::map_broadcast<T, 2>(ctx, {x, y}, {&x_dims, &y_dims}, out, out_dims, f);
}

/// out[i] = f(a[i], b[i], c[i], ..). All inputs have `out_dims`. Errors: Internal if one has other
/// dims.
template <typename T, size_t kInputs, typename Out, typename F>
void even_loop(const GpuContext& ctx, const std::array<const DenseTensor*, kInputs>& inputs,
               Out* out, const Dims& out_dims, F f) {
  check_even(inputs, out_dims);
  std::apply(
      [&](auto*... in) { gpu::map(ctx, out, out_dims.numel(), f, in->template data<T>()...); },
      inputs);
}

template <typename T, size_t kInputs, typename F>
void even_loop(const GpuContext& ctx, const DenseTensor* const (&inputs)[kInputs], DenseTensor* out,
               F f) {
  even_loop<T>(ctx, std::to_array(inputs), out->mutable_data<T>(), out->dims(), f);
}

/// out[i] = f(a[i], b[i], c[i], ..), with inputs broadcast to `out_dims`. At least one input has
/// other dims.
template <typename T, size_t kInputs, typename Out, typename F>
void broadcast_loop(const GpuContext& ctx, const std::array<const DenseTensor*, kInputs>& inputs,
                    Out* out, const Dims& out_dims, F f) {
  std::array<const T*, kInputs> data;
  std::array<const Dims*, kInputs> dims;
  for (size_t k = 0; k < kInputs; ++k) {
    data[k] = inputs[k]->template data<T>();
    dims[k] = &inputs[k]->dims();
  }
  gpu::map_broadcast<T, kInputs>(ctx, data, dims, out, out_dims, f);
}

/// out[i] = f(a[i], b[i], c[i], ..), with inputs broadcast to `out_dims` if necessary.
template <typename T, size_t kInputs, typename Out, typename F>
void nary_loop(const GpuContext& ctx, const std::array<const DenseTensor*, kInputs>& inputs,
               Out* out, const Dims& out_dims, F f) {
  if (is_even(inputs, out_dims)) return even_loop<T>(ctx, inputs, out, out_dims, f);
  broadcast_loop<T>(ctx, inputs, out, out_dims, f);
}

template <typename T, size_t kInputs, typename F>
void nary_loop(const GpuContext& ctx, const DenseTensor* const (&inputs)[kInputs], DenseTensor* out,
               F f) {
  nary_loop<T>(ctx, std::to_array(inputs), out->mutable_data<T>(), out->dims(), f);
}

/// out[i] = x[i], converted. The arrays must not overlap unless they are the same array.
template <typename From, typename To>
void convert(const GpuContext& ctx, const From* x, To* out, int64_t n) {
  static_assert(dtype_of<From>() != DataType::UNDEFINED && dtype_of<To>() != DataType::UNDEFINED);
  gpu::cast_elements(ctx, x, dtype_of<From>(), out, dtype_of<To>(), n);
}

/// out[i] = value.
template <typename T>
void fill(const GpuContext& ctx, T* out, int64_t n, T value) {
  gpu::fill_elements(ctx, out, n, &value, sizeof(T));
}

/// out[i] = f(i), without conversion through the compute type.
template <typename Out, typename F>
void index_loop(const GpuContext& ctx, Out* out, int64_t n, F f) {
  gpu::map_index(ctx, out, n, f);
}

/// Copies x's bytes to `out`, unless they are already the same buffer.
inline void keep(const GpuContext& ctx, const DenseTensor& x, DenseTensor* out) {
  gpu::keep_bytes(ctx, x.raw_data(), out->mutable_raw_data(), x.nbytes());
}

}  // namespace phi
