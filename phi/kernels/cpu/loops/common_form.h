// CommonForm: functors in fewer steps for blocks whose values are all common, bit for bit what the
// functor itself makes of them. What a functor does for the ends of its range, g++ makes of several
// comparisons and selects for each limit, which take as long as a polynomial; a test of a block is
// two steps, and leaves them out.
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

/// F(x..) where rank(x..) is not above kMost; most functors have none. Ranks are unsigned, as those
/// are whose maximum loops find in one step.
template <typename F>
struct CommonForm;

template <typename F>
concept HasCommonForm = requires {
  sizeof(CommonForm<F>);
};

template <typename T>
using bits_of_t = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;

/// Of |x|, in whose order they are; above those of all numbers for NaN.
template <typename T>
constexpr bits_of_t<T> magnitude_bits(T x) {
  return std::bit_cast<bits_of_t<T>>(x) & (std::numeric_limits<bits_of_t<T>>::max() >> 1);
}

/// The first argument's magnitude is the rank: as most forms compute it, so that loops do once.
struct ByMagnitude {
  template <typename T, typename... Others>
  static auto rank(T x, Others...) {
    return std::bit_cast<bits_of_t<T>>(std::fabs(x));
  }
};

template <typename T>
struct WithinExp : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(fast::detail::Real<T>::kExpInside);
};

template <typename T>
struct PositiveNormal {
  using Limits = std::numeric_limits<T>;
  static constexpr auto kLeast = magnitude_bits(Limits::min());
  static constexpr auto kMost = magnitude_bits(Limits::max()) - kLeast;
  static auto rank(T x) { return std::bit_cast<bits_of_t<T>>(x) - kLeast; }
};

/// Functors that bring it along: inside(x) for |x| <= kInside.
template <typename F>
requires requires { F::kInside; }
struct CommonForm<F> : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(F::kInside);
  template <typename T>
  T operator()(T x) const {
    return F().inside(x);
  }
};

template <typename T>
struct CommonForm<ExpFunctor<T>> : WithinExp<T> {
  T operator()(T x) const { return fast::exp_inside(x); }
};

template <typename T>
struct CommonForm<Expm1Functor<T>> : WithinExp<T> {
  T operator()(T x) const { return std::copysign(fast::expm1_inside(x), x); }
};

template <typename T>
struct CommonForm<SigmoidFunctor<T>> : WithinExp<T> {
  T operator()(T x) const { return fast::sigmoid_inside(x); }
};

template <typename T>
struct CommonForm<SiluFunctor<T>> : WithinExp<T> {
  T operator()(T x) const { return x * fast::sigmoid_inside(x); }
};

template <typename T>
struct CommonForm<SiluGradFunctor<T>> : WithinExp<T> {
  T operator()(T x, T g) const {
    const T s = fast::sigmoid_inside(x);
    return g * s * (T(1) + x * (T(1) - s));
  }
};

template <>
struct CommonForm<GeluFunctor<float>> : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(fast::kGeluInside);
  float operator()(float x) const { return fast::gelu_inside(x); }
};

template <>
struct CommonForm<GeluTanhFunctor<float>> : ByMagnitude {
  static constexpr auto kMost = magnitude_bits(fast::kGeluTanhInside);
  float operator()(float x) const { return x * fast::sigmoid_inside(fast::gelu_tanh_exponent(x)); }
};

template <typename T>
struct CommonForm<LogFunctor<T>> : PositiveNormal<T> {
  T operator()(T x) const { return fast::log_inside(x); }
};

template <typename T>
struct CommonForm<Log2Functor<T>> : PositiveNormal<T> {
  T operator()(T x) const { return fast::log2_inside(x); }
};

template <typename T>
struct CommonForm<Log10Functor<T>> : PositiveNormal<T> {
  T operator()(T x) const { return fast::log10_inside(x); }
};

template <>
struct CommonForm<Log1pFunctor<float>> {
  static constexpr auto kMost = PositiveNormal<float>::kMost;
  static auto rank(float x) { return PositiveNormal<float>::rank(1.0f + x); }
  float operator()(float x) const { return fast::log1p_inside(x); }
};

}  // namespace detail
}  // namespace phi
