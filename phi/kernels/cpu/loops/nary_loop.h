// nary_loop: out[i] = f(a[i], b[i], c[i], ..) for elementwise functors with any number of inputs,
// which broadcast.
//
//   nary_loop<T>({&x, &y, &weight}, out, [](auto x, auto y, auto w) { return x + w * (y - x); });
#pragma once

#include <array>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/loops/block_rows.h"

namespace phi {

/// `out` has dims `out_dims`, to which all inputs broadcast. Its elements have any type to which
/// f's result converts. It may be one of the inputs, element for element.
template <typename T, size_t kInputs, typename Out, typename F>
void nary_loop(const std::array<const DenseTensor*, kInputs>& inputs, Out* out,
               const Dims& out_dims, F f) {
  std::array<const T*, kInputs> data;
  std::array<const Dims*, kInputs> dims;
  for (size_t k = 0; k < kInputs; ++k) {
    data[k] = inputs[k]->template data<T>();
    dims[k] = &inputs[k]->dims();
  }
  detail::run_broadcast(data, dims, out, out_dims, detail::RowFunction<T, Out, kInputs, true>(f));
}

template <typename T, size_t kInputs, typename F>
void nary_loop(const DenseTensor* const (&inputs)[kInputs], DenseTensor* out, F f) {
  nary_loop<T>(std::to_array(inputs), out->mutable_data<T>(), out->dims(), f);
}

}  // namespace phi
