// Reductions: the types that a running value is kept in, its start, and how values join.
//
// Lane is the type of the vectorised inner loop over a short block, Acc that of the value carried
// from block to block: float sums are short in float and long in double.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/binary.h"

namespace phi {

template <typename T>
struct SumReducer {
  using Lane = std::conditional_t<std::is_integral_v<T>, int64_t, compute_t<T>>;
  using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  static constexpr Lane kIdentity = 0;
  PHI_HD static Lane join(Lane a, Lane b) { return AddFunctor<Lane>()(a, b); }
  PHI_HD static Acc carry(Acc sum, Lane block) {
    return AddFunctor<Acc>()(sum, static_cast<Acc>(block));
  }
};

/// NaN wins; the largest of nothing is -inf, or the lowest integer.
template <typename T>
struct MaxReducer {
  using Lane = compute_t<T>;
  using Acc = Lane;
  static constexpr Lane kIdentity = std::is_floating_point_v<Lane>
                                        ? -std::numeric_limits<Lane>::infinity()
                                        : std::numeric_limits<Lane>::lowest();
  PHI_HD static Lane join(Lane a, Lane b) { return MaximumFunctor<Lane>()(a, b); }
  PHI_HD static Acc carry(Acc a, Lane b) { return join(a, b); }
};

}  // namespace phi
