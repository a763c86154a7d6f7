// Sums over tensor dims for real and complex types. Device primitive: reduce.
#pragma once

#include <type_traits>

#include "phi/core/meta.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/reduce.h"
#include "phi/kernels/real_type.h"

namespace phi {

/// out[i] = finish(sum of the elements of output i). Real and imaginary parts of complex numbers
/// are summed separately, as one more tensor dim. finish is applied to each part's sum, and Out is
/// T.
template <typename T, typename Context, typename Out, typename Finish>
void sum_over(const Context& ctx, const T* x, Dims dims, AxisSet axes, Out* out,
              const Finish& finish) {
  if constexpr (kIsComplex<T>) {
    static_assert(std::is_same_v<T, Out>);
    using Part = real_t<T>;
    dims.push_back(2);
    reduce<SumReducer<Part>>(ctx, reinterpret_cast<const Part*>(x), dims, axes,
                             reinterpret_cast<Part*>(out), finish);
  } else {
    reduce<SumReducer<T>>(ctx, x, dims, axes, out, finish);
  }
}

template <typename T, typename Context, typename Out>
void sum_over(const Context& ctx, const T* x, const Dims& dims, AxisSet axes, Out* out) {
  sum_over(ctx, x, dims, axes, out, ConvertFunctor<real_t<Out>>());
}

}  // namespace phi
