// FastPath: a faster version of a functor, with the same bits, for blocks in which all values are
// common. g++ compiles the handling of each range limit of a functor to several comparisons and
// selects, which take as long as a polynomial. One test of a block takes two instructions per
// element and replaces them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/fast/hyperbolic.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/normal.h"

namespace phi {

template <typename T>
struct ExpFunctor;
template <typename T>
struct Expm1Functor;
template <typename T>
struct GeluFunctor;
template <typename T>
struct GeluTanhFunctor;
template <typename T>
struct Log10Functor;
template <typename T>
struct Log1pFunctor;
template <typename T>
struct Log2Functor;
template <typename T>
struct LogFunctor;
template <typename T>
struct SigmoidFunctor;
template <typename T>
struct SiluFunctor;
template <typename T>
struct SiluGradFunctor;

namespace detail {

/// Computes F(x..) if rank(x..) is at most kMost; most functors have no FastPath. Ranks are
/// unsigned, so that loops find their maximum in one step.
template <typename F>
struct FastPath;

template <typename F>
concept HasFastPath = requires {
  sizeof(FastPath<F>);
};

template <typename T>
using bits_of_t = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;

/// Returns the bits of |x|. They are ordered as the numbers, with NaN above all of them.
template <typename T>
constexpr bits_of_t<T> magnitude_bits(T x) {
  return std::bit_cast<bits_of_t<T>>(x) & (std::numeric_limits<bits_of_t<T>>::max() >> 1);
}

/// The rank is the magnitude of the first argument, computed as most forms compute it, so that a
/// loop shares the value.
struct ByMagnitude {
  template <typename T, typename... Others>
  static auto rank(T x, Others...) {
    return std::bit_cast<bits_of_t<T>>(std::fabs(x));
  }
};

template <typename T>
struct WithinExp : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(fast::detail::FloatTraits<T>::kExpInside);
};

template <typename T>
struct PositiveNormal {
  using Limits = std::numeric_limits<T>;
  static constexpr auto kLeast = magnitude_bits(Limits::min());
  static constexpr auto kMost = magnitude_bits(Limits::max()) - kLeast;
  static auto rank(T x) { return std::bit_cast<bits_of_t<T>>(x) - kLeast; }
};

/// Functors with a fast path of their own: fast_path(x) for |x| <= kFastPathMax.
template <typename F>
requires requires { F::kFastPathMax; }
struct FastPath<F> : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(F::kFastPathMax);
  template <typename T>
  T operator()(T x) const {
    return F().fast_path(x);
  }
};

template <typename T>
struct FastPath<ExpFunctor<T>> : WithinExp<T> {
  T operator()(T x) const { return fast::exp_inside(x); }
};

template <typename T>
struct FastPath<Expm1Functor<T>> : WithinExp<T> {
  T operator()(T x) const { return std::copysign(fast::expm1_inside(x), x); }
};

template <typename T>
struct FastPath<SigmoidFunctor<T>> : WithinExp<T> {
  T operator()(T x) const { return fast::sigmoid_inside(x); }
};

template <typename T>
struct FastPath<SiluFunctor<T>> : WithinExp<T> {
  T operator()(T x) const { return x * fast::sigmoid_inside(x); }
};

template <typename T>
struct FastPath<SiluGradFunctor<T>> : WithinExp<T> {
  T operator()(T x, T g) const {
    const T s = fast::sigmoid_inside(x);
    return g * s * (T(1) + x * (T(1) - s));
  }
};

template <>
struct FastPath<GeluFunctor<float>> : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(fast::kGeluInside);
  float operator()(float x) const { return fast::gelu_inside(x); }
};

template <>
struct FastPath<GeluTanhFunctor<float>> : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(fast::kGeluTanhInside);
  float operator()(float x) const { return x * fast::sigmoid_inside(fast::gelu_tanh_exponent(x)); }
};

template <typename T>
struct FastPath<LogFunctor<T>> : PositiveNormal<T> {
  T operator()(T x) const { return fast::log_inside(x); }
};

template <typename T>
struct FastPath<Log2Functor<T>> : PositiveNormal<T> {
  T operator()(T x) const { return fast::log2_inside(x); }
};

template <typename T>
struct FastPath<Log10Functor<T>> : PositiveNormal<T> {
  T operator()(T x) const { return fast::log10_inside(x); }
};

template <>
struct FastPath<Log1pFunctor<float>> {
  static constexpr auto kMost = PositiveNormal<float>::kMost;
  static auto rank(float x) { return PositiveNormal<float>::rank(1.0f + x); }
  float operator()(float x) const { return fast::log1p_inside(x); }
};

}  // namespace detail
}  // namespace phi
