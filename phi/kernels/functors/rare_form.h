// Functors with a fast operator() for common values and an exact rare() for all others.
#pragma once

#include "phi/kernels/functors/hd.h"

namespace phi::detail {

template <typename F, typename... C>
concept HasRareForm = requires(const F f, C... x) {
  F::is_common(x...);
  f.rare(x...);
};

/// f for one element of any value.
template <typename F, typename... C>
PHI_HD auto apply(const F& f, C... x) {
  if constexpr (HasRareForm<F, C...>) {
    return F::is_common(x...) ? f(x...) : f.rare(x...);
  } else {
    return f(x...);
  }
}

}  // namespace phi::detail
