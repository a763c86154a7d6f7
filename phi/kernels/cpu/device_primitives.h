// Device primitives of the CPU, in which shared kernel templates (kernels/templates) are written.
// gpu/device_primitives.h has the GPU's. The first argument of each is the device's context.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "phi/core/dense_tensor.h"
#include "phi/core/kernel_registry.h"
#include "phi/kernels/cpu/check_elements.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/cpu/loops/nary_loop.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/cpu/reduction/reduce_loop.h"
#include "phi/kernels/even_dims.h"

/// The kind of device for which shared kernels are registered.
#define PHI_DEVICE CPU

namespace phi {

template <typename... Args>
void unary_loop(const CpuContext&, Args&&... args) {
  unary_loop(std::forward<Args>(args)...);
}

template <typename... Args>
void binary_loop(const CpuContext&, Args&&... args) {
  binary_loop(std::forward<Args>(args)...);
}

template <typename T, size_t kInputs, typename Out, typename F>
void nary_loop(const CpuContext&, const std::array<const DenseTensor*, kInputs>& inputs, Out* out,
               const Dims& out_dims, F f) {
  nary_loop<T>(inputs, out, out_dims, f);
}

template <typename T, size_t kInputs, typename F>
void nary_loop(const CpuContext&, const DenseTensor* const (&inputs)[kInputs], DenseTensor* out,
               F f) {
  nary_loop<T>(inputs, out, f);
}

/// Like nary_loop, for inputs that all have dims `out_dims`.
///
/// Errors   Internal if the dims of an input differ.
template <typename T, size_t kInputs, typename Out, typename F>
void even_loop(const CpuContext&, const std::array<const DenseTensor*, kInputs>& inputs, Out* out,
               const Dims& out_dims, F f) {
  check_even(inputs, out_dims);
  nary_loop<T>(inputs, out, out_dims, f);
}

template <typename T, size_t kInputs, typename F>
void even_loop(const CpuContext& ctx, const DenseTensor* const (&inputs)[kInputs], DenseTensor* out,
               F f) {
  even_loop<T>(ctx, std::to_array(inputs), out->mutable_data<T>(), out->dims(), f);
}

/// Like nary_loop, for inputs of which at least one is broadcast.
template <typename T, size_t kInputs, typename Out, typename F>
void broadcast_loop(const CpuContext&, const std::array<const DenseTensor*, kInputs>& inputs,
                    Out* out, const Dims& out_dims, F f) {
  nary_loop<T>(inputs, out, out_dims, f);
}

/// Sets out[i] = x[i], converted. The arrays must not overlap.
template <typename From, typename To>
void convert(const CpuContext&, const From* x, To* out, int64_t n) {
  convert(x, out, n);
}

template <typename T>
void fill(const CpuContext&, T* out, int64_t n, T value) {
  std::fill_n(out, n, value);
}

/// Copies x's bytes to `out`, unless `out` is x's own buffer.
inline void keep(const CpuContext&, const DenseTensor& x, DenseTensor* out) { keep(x, out); }

}  // namespace phi
