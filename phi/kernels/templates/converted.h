// Conversion of a tensor to the dtype in which a kernel computes. Device primitive: convert.
#pragma once

#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/core/scratch_array.h"

namespace phi {

/// T; float32 for integers.
template <typename T>
using floating_t = std::conditional_t<std::is_integral_v<T>, float, T>;

/// x with elements of type To. Returns x itself, without a copy, if T is To.
template <typename To, typename T, typename Context>
DenseTensor converted(const Context& ctx, const DenseTensor& x) {
  if constexpr (std::is_same_v<To, T>) {
    return x;
  } else {
    DenseTensor result = scratch_array({x.dims(), dtype_of<To>()}, ctx.place());
    convert(ctx, x.data<T>(), result.template mutable_data<To>(), x.numel());
    return result;
  }
}

}  // namespace phi
