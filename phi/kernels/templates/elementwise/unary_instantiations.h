// Macros that instantiate and register elementwise kernels of one input, and their gradients, from
// a functor.
//
//   PHI_UNARY_KERNEL(leaky_relu, LeakyReluFunctor, Floats, double);  // double: an attribute
//   PHI_UNARY_GRAD_KERNEL(leaky_relu_grad, LeakyReluGradFunctor, Floats, double);
//
// The functor is a template on its compute type (compute_t), and its members are the attributes in
// order. Its return type is the output's element type: the input's, or another such as bool.
// Outputs may be the input; a gradient may also be out_grad.
#pragma once

#include <complex>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/core/attribute.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/kernel_registry.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

namespace detail {

/// Converts an attribute for a functor that computes in C: an int stays, other numbers become C.
template <typename C, typename Attribute>
auto attribute_value(const Attribute& value) {
  if constexpr (std::is_same_v<Attribute, int>) {
    return value;
  } else if constexpr (std::is_same_v<Attribute, Scalar>) {
    return value.template to<C>();
  } else {
    return convert_value<C>(value);
  }
}

/// out = f(x), where f computes in C, to which x is converted.
template <typename C, typename T, typename Context, typename F>
void map_unary(const Context& ctx, const DenseTensor& x, DenseTensor* out, F f) {
  using Result = std::invoke_result_t<F, C>;
  const int64_t n = x.numel();
  if constexpr (!std::is_same_v<C, compute_t<T>>) {  // the result's memory holds x in C
    convert(ctx, x.data<T>(), out->mutable_data<C>(), n);
    unary_loop(ctx, out->mutable_data<C>(), out->mutable_data<C>(), n, f);
  } else if constexpr (std::is_same_v<C, Result>) {
    unary_loop(ctx, x.data<T>(), out->mutable_data<T>(), n, f);
  } else {
    unary_loop(ctx, x.data<T>(), out->mutable_data<Result>(), n, f);
  }
}

template <typename C, typename F>
struct AtConjugate {
  F f;
  PHI_HD C operator()(C x, C out_grad) const { return f(conj(x), out_grad); }
};

}  // namespace detail

template <template <typename> typename Functor, typename... Attributes>
struct UnaryKernel {
  template <typename T, typename Context>
  static void run(const Context& ctx, const DenseTensor& x, Attributes... attributes,
                  DenseTensor* out) {
    using C = compute_t<T>;
    detail::map_unary<C, T>(
        ctx, x, out,
        Functor<C>{detail::attribute_value<C, std::decay_t<Attributes>>(attributes)...});
  }
};

/// For integers, whose result is float32.
template <template <typename> typename Functor, typename... Attributes>
struct UnaryOfIntegersKernel {
  template <typename T, typename Context>
  static void run(const Context& ctx, const DenseTensor& x, Attributes... attributes,
                  DenseTensor* out) {
    detail::map_unary<float, T>(
        ctx, x, out,
        Functor<float>{detail::attribute_value<float, std::decay_t<Attributes>>(attributes)...});
  }
};

/// `kept` is the function's x or out. For complex numbers, the derivative is evaluated at the
/// conjugate, which gives its conjugate because the functions here are real for real arguments.
template <template <typename> typename Functor, typename... Attributes>
struct UnaryGradKernel {
  template <typename T, typename Context>
  static void run(const Context& ctx, const DenseTensor& kept, const DenseTensor& out_grad,
                  Attributes... attributes, DenseTensor* x_grad) {
    using C = compute_t<T>;
    const Functor<C> f{detail::attribute_value<C, std::decay_t<Attributes>>(attributes)...};
    const auto loop = [&](auto g) {
      binary_loop(ctx, kept.data<T>(), out_grad.data<T>(), x_grad->mutable_data<T>(),
                  x_grad->numel(), g);
    };
    if constexpr (kIsComplex<T>) {
      loop(detail::AtConjugate<C, Functor<C>>{f});
    } else {
      loop(f);
    }
  }
};

}  // namespace phi

#define PHI_INSTANTIATE_UNARY_(Kernel, name, Functor, types, ...)                        \
  using PHI_CONCAT_(name##_row_, __LINE__) = Kernel<Functor __VA_OPT__(, ) __VA_ARGS__>; \
  PHI_REGISTER_KERNEL(name, PHI_DEVICE, PHI_CONCAT_(name##_row_, __LINE__)::template run, types)
/// Registers a kernel, in namespace phi. Arguments: op, functor, TypeList, and the attribute types
/// of the kernel's signature.
#define PHI_UNARY_KERNEL(name, Functor, types, ...) \
  PHI_INSTANTIATE_UNARY_(UnaryKernel, name, Functor, types __VA_OPT__(, ) __VA_ARGS__)
/// The same for all floats, and for integers with a float32 result (FloatUnaryInferMeta).
#define PHI_FLOAT_UNARY_KERNEL(name, Functor, ...)                                           \
  using name##_of_integers_row_ = UnaryOfIntegersKernel<Functor __VA_OPT__(, ) __VA_ARGS__>; \
  PHI_REGISTER_KERNEL(name, PHI_DEVICE, name##_of_integers_row_::template run, AllIntegers); \
  PHI_UNARY_KERNEL(name, Functor, Floats __VA_OPT__(, ) __VA_ARGS__)
#define PHI_UNARY_GRAD_KERNEL(name, Functor, types, ...) \
  PHI_INSTANTIATE_UNARY_(UnaryGradKernel, name, Functor, types __VA_OPT__(, ) __VA_ARGS__)
