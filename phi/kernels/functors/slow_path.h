// Functors with a fast operator() for common values and an exact slow_path() for all others.
#pragma once

#include "phi/kernels/functors/hd.h"

namespace phi::detail {

template <typename F, typename... C>
concept HasSlowPath = requires(const F f, C... x) {
  F::takes_fast_path(x...);
  f.slow_path(x...);
};

/// f for one element of any value.
template <typename F, typename... C>
PHI_HD auto apply(const F& f, C... x) {
  if constexpr (HasSlowPath<F, C...>) {
    return F::takes_fast_path(x...) ? f(x...) : f.slow_path(x...);
  } else {
    return f(x...);
  }
}

}  // namespace phi::detail
