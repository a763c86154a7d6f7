// The type of a number's real part.
#pragma once

#include <complex>

namespace phi {

namespace detail {
template <typename T>
struct Real {
  using type = T;
};
template <typename R>
struct Real<std::complex<R>> {
  using type = R;
};
}  // namespace detail

/// R of std::complex<R>; another type itself.
template <typename T>
using real_t = typename detail::Real<T>::type;

}  // namespace phi
