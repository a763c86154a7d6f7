// CommonForm: functors in fewer steps for blocks whose values are all common, bit for bit what the
// functor itself makes of them. What a functor does for the ends of its range, g++ makes of several
// comparisons and selects for each limit, which take as long as a polynomial; a test of a block is
// three steps, and leaves them out.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

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

/// F(x..) where rare_sign(x..) is not negative; most functors have none.
template <typename F>
struct CommonForm;

template <typename F>
concept HasCommonForm = requires {
  sizeof(CommonForm<F>);
};

/// A negative number unless |x| <= limit; of NaN too. As integers, in which floats that are not
/// negative have their order.
inline int32_t rare_beyond(float x, float limit) {
  return std::bit_cast<int32_t>(limit) - std::bit_cast<int32_t>(std::fabs(x));
}
inline int64_t rare_beyond(double x, double limit) {
  return std::bit_cast<int64_t>(limit) - std::bit_cast<int64_t>(std::fabs(x));
}

struct WithinExp {
  static int32_t rare_sign(float x) { return rare_beyond(x, fast::kExpInside); }
};

struct PositiveNormal {
  static int32_t rare_sign(float x) {
    using Limits = std::numeric_limits<float>;
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t below = bits - std::bit_cast<uint32_t>(Limits::min());
    const uint32_t above = std::bit_cast<uint32_t>(Limits::max()) - bits;
    return static_cast<int32_t>(bits | below | above);
  }
};

/// Functors that bring it along: inside(x) for |x| <= kInside.
template <typename F>
requires requires { F::kInside; }
struct CommonForm<F> {
  template <typename T>
  static auto rare_sign(T x) {
    return rare_beyond(x, F::kInside);
  }
  template <typename T>
  T operator()(T x) const {
    return F().inside(x);
  }
};

template <>
struct CommonForm<ExpFunctor<float>> : WithinExp {
  float operator()(float x) const { return fast::exp_inside(x); }
};

template <>
struct CommonForm<Expm1Functor<float>> : WithinExp {
  float operator()(float x) const { return std::copysign(fast::expm1_inside(x), x); }
};

template <>
struct CommonForm<SigmoidFunctor<float>> : WithinExp {
  float operator()(float x) const { return fast::sigmoid_inside(x); }
};

template <>
struct CommonForm<SiluFunctor<float>> : WithinExp {
  float operator()(float x) const { return x * fast::sigmoid_inside(x); }
};

template <>
struct CommonForm<SiluGradFunctor<float>> {
  static int32_t rare_sign(float x, float) { return WithinExp::rare_sign(x); }
  float operator()(float x, float g) const {
    const float s = fast::sigmoid_inside(x);
    return g * s * (1.0f + x * (1.0f - s));
  }
};

template <>
struct CommonForm<GeluFunctor<float>> {
  static int32_t rare_sign(float x) { return rare_beyond(x, fast::kGeluInside); }
  float operator()(float x) const { return fast::gelu_inside(x); }
};

template <>
struct CommonForm<GeluTanhFunctor<float>> {
  static int32_t rare_sign(float x) { return rare_beyond(x, fast::kGeluTanhInside); }
  float operator()(float x) const { return x * fast::sigmoid_inside(fast::gelu_tanh_exponent(x)); }
};

template <>
struct CommonForm<LogFunctor<float>> : PositiveNormal {
  float operator()(float x) const { return fast::log_inside(x); }
};

template <>
struct CommonForm<Log2Functor<float>> : PositiveNormal {
  float operator()(float x) const { return fast::log2_inside(x); }
};

template <>
struct CommonForm<Log10Functor<float>> : PositiveNormal {
  float operator()(float x) const { return fast::log10_inside(x); }
};

template <>
struct CommonForm<Log1pFunctor<float>> {
  static int32_t rare_sign(float x) { return PositiveNormal::rare_sign(1.0f + x); }
  float operator()(float x) const { return fast::log1p_inside(x); }
};

}  // namespace detail
}  // namespace phi
