// A number's real part, and its type.
#pragma once

#include <type_traits>

#include "phi/common/complex.h"

namespace phi {

namespace detail {
template <typename T>
struct Real {
  using type = T;
};
template <typename R>
struct Real<Complex<R>> {
  using type = R;
};
}  // namespace detail

/// R of Complex<R>; another type itself.
template <typename T>
using real_t = typename detail::Real<T>::type;

/// The real part of a number; another one itself.
template <typename T>
PHI_HD real_t<T> real_part(T x) {
  if constexpr (std::is_same_v<T, real_t<T>>) {
    return x;
  } else {
    return x.real();
  }
}

}  // namespace phi
