// Addresses of the arrays of a kernel template. The statement of a kernel's scratch memory
// (core/device/scratch_context.h) can be the kernel's template on ScratchContext: its device
// primitives plan memory and ignore addresses.
#pragma once

#include <type_traits>

#include "phi/core/dense_tensor.h"

namespace phi {

class ScratchContext;

/// The elements of x; null for ScratchContext, because arrays of a dry run have no bytes.
template <typename T, typename Context>
const T* data_of(const Context&, const DenseTensor& x) {
  if constexpr (std::is_same_v<Context, ScratchContext>) {
    return nullptr;
  } else {
    return x.data<T>();
  }
}

template <typename T, typename Context>
T* mutable_data_of(const Context&, DenseTensor* x) {
  if constexpr (std::is_same_v<Context, ScratchContext>) {
    return nullptr;
  } else {
    return x->mutable_data<T>();
  }
}

}  // namespace phi
