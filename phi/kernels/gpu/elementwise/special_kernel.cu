// Error, gamma and Bessel functions, and their gradients, on GPUs.
#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/functors/elementwise/unary_math_grad.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi::gpu {

template <typename T>
inline constexpr bool is_long<DigammaFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<I0Functor<T>> = true;
template <typename T>
inline constexpr bool is_long<I0eFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<I1Functor<T>> = true;
template <typename T>
inline constexpr bool is_long<I1eFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<LgammaFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<PolygammaFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<TrigammaFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<DigammaGradFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<I0GradFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<I0eGradFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<I1GradFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<I1eGradFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<LgammaGradFunctor<T>> = true;
template <typename T>
inline constexpr bool is_long<PolygammaGradFunctor<T>> = true;

}  // namespace phi::gpu

#include "phi/kernels/templates/elementwise/special.h"
