// The reductions of put_along_axis. C is a compute type (compute_t).
#pragma once

#include <limits>
#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// kStart is the initial value if the existing element is not included.
template <typename C>
struct PutAdd : AddFunctor<C> {
  static constexpr C kStart = C(0);
};

template <typename C>
struct PutMultiply : MultiplyFunctor<C> {
  static constexpr C kStart = C(1);
};

/// NaN has priority.
template <typename C>
struct PutLargest {
  static constexpr C kStart = std::is_floating_point_v<C> ? -std::numeric_limits<C>::infinity()
                                                          : std::numeric_limits<C>::lowest();
  PHI_HD C operator()(C x, C y) const { return x >= y || x != x ? x : y; }
};

/// NaN has priority.
template <typename C>
struct PutSmallest {
  static constexpr C kStart = std::is_floating_point_v<C> ? std::numeric_limits<C>::infinity()
                                                          : std::numeric_limits<C>::max();
  PHI_HD C operator()(C x, C y) const { return x <= y || x != x ? x : y; }
};

}  // namespace phi
