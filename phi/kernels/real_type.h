// The real type and real part of a number, and its conjugate, for real and complex types.
#pragma once

#include <type_traits>

#include "phi/common/complex.h"

namespace phi {

namespace detail {
template <typename T>
struct RealType {
  using type = T;
};
template <typename R>
struct RealType<Complex<R>> {
  using type = R;
};
}  // namespace detail

/// R for Complex<R>; T for any other type T.
template <typename T>
using real_t = typename detail::RealType<T>::type;

/// The real part of x; x itself if it is real.
template <typename T>
PHI_HD real_t<T> real_part(T x) {
  if constexpr (std::is_same_v<T, real_t<T>>) {
    return x;
  } else {
    return x.real();
  }
}

/// The conjugate of x; x itself if it is real.
template <typename T>
PHI_HD T conjugate(T x) {
  if constexpr (std::is_same_v<T, real_t<T>>) {
    return x;
  } else {
    return conj(x);
  }
}

}  // namespace phi
