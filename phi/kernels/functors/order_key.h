// Unsigned integers that sort like numbers. NaN is larger than all numbers, and -0 equals 0.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/hd.h"

namespace phi {

template <typename C>
using order_key_t = std::conditional_t<sizeof(C) <= 4, uint32_t, uint64_t>;

/// A key such that a smaller x has a smaller key. C is a compute type (compute_t).
template <typename C>
PHI_HD order_key_t<C> order_key(C x) {
  using Key = order_key_t<C>;
  constexpr Key kTop = Key(1) << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<C>) {
    // Branch-free, because the signs of neighbours are unpredictable.
    const Key bits = std::bit_cast<Key>(x == C(0) ? C(0) : x);
    const Key key = bits ^ ((bits & kTop) != 0 ? ~Key(0) : kTop);
    return x != x ? std::numeric_limits<Key>::max() : key;
  } else if constexpr (std::is_signed_v<C>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(x)) ^ kTop;
  } else {
    return static_cast<Key>(x);
  }
}

}  // namespace phi
