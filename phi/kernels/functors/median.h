// The mean of the two middle elements of a median.
#pragma once

#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"

namespace phi {

/// (a + b) / 2; the result of integers is truncated.
template <typename C>
PHI_HD C middle(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<C>(AddFunctor<C>()(a, b) / 2);
  } else {
    return a == b ? a : (a + b) / 2;
  }
}

}  // namespace phi
