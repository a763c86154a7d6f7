// Shapes and dtypes of gradients. A gradient has the meta of its tensor.
//
//   auto [x_grad, y_grad] = GeneralBinaryGradInferMeta(x, y);        // two TensorMetas
//   auto [in_grad, s_grad] = GeneralBinaryGradInferMeta(x, &scale);  // the second is optional
#pragma once

#include <optional>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

namespace detail {
inline TensorMeta gradient_meta(const TensorMeta& x) { return x; }
/// An optional tensor has a gradient if it is present.
inline std::optional<TensorMeta> gradient_meta(const TensorMeta* x) {
  return x ? std::optional(*x) : std::nullopt;
}
}  // namespace detail

/// The metas of the gradients of two tensors. A `const TensorMeta&` gives a TensorMeta; a
/// `const TensorMeta*`, for an optional tensor, gives a std::optional<TensorMeta>.
template <typename X, typename Y>
auto GeneralBinaryGradInferMeta(const X& x, const Y& y) {
  return std::tuple(detail::gradient_meta(x), detail::gradient_meta(y));
}

/// The same for three tensors.
template <typename X, typename Y, typename Z>
auto GeneralTernaryGradInferMeta(const X& x, const Y& y, const Z& z) {
  return std::tuple(detail::gradient_meta(x), detail::gradient_meta(y), detail::gradient_meta(z));
}

}  // namespace phi
