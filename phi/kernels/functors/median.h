// The median between two elements.
#pragma once

#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"

namespace phi {

/// Half of a + b; integers lose their fraction.
template <typename C>
PHI_HD C middle(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<C>(AddFunctor<C>()(a, b) / 2);
  } else {
    return a == b ? a : (a + b) / 2;
  }
}

}  // namespace phi
