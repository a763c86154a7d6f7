// Logical and bitwise kernels, and shifts. Inputs are broadcast to out's dims. out may be the first
// input.
#pragma once

#include "phi/generated/kernels/bitwise.h"
#include "phi/kernels/functors/elementwise/bitwise.h"

namespace phi {
namespace {

template <typename T, typename Out, typename Context, typename F>
void logic(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out, F f) {
  binary_loop(ctx, x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<Out>(),
              out->dims(), f);
}

}  // namespace

#define PHI_DEFINE_LOGIC_KERNEL_(Name, Out)                                         \
  template <typename T, typename Context>                                           \
  void Name##Kernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                             \
    logic<T, Out>(ctx, x, y, out, Name##Functor<compute_t<T>>());                   \
  }
PHI_DEFINE_LOGIC_KERNEL_(LogicalAnd, bool)
PHI_DEFINE_LOGIC_KERNEL_(LogicalOr, bool)
PHI_DEFINE_LOGIC_KERNEL_(LogicalXor, bool)
PHI_DEFINE_LOGIC_KERNEL_(BitwiseAnd, T)
PHI_DEFINE_LOGIC_KERNEL_(BitwiseOr, T)
PHI_DEFINE_LOGIC_KERNEL_(BitwiseXor, T)
#undef PHI_DEFINE_LOGIC_KERNEL_

/// Arithmetic and logical left shifts are the same, so the flag has no effect.
template <typename T, typename Context>
void BitwiseLeftShiftKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, bool,
                            DenseTensor* out) {
  logic<T, T>(ctx, x, y, out, LeftShiftFunctor<T>());
}

template <typename T, typename Context>
void BitwiseRightShiftKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                             bool is_arithmetic, DenseTensor* out) {
  if (is_arithmetic) return logic<T, T>(ctx, x, y, out, ArithmeticRightShiftFunctor<T>());
  logic<T, T>(ctx, x, y, out, LogicalRightShiftFunctor<T>());
}

using BitwiseTypes = join_t<TypeList<bool>, AllIntegers>;

PHI_REGISTER_KERNEL(logical_and, PHI_DEVICE, LogicalAndKernel, EveryType);
PHI_REGISTER_KERNEL(logical_or, PHI_DEVICE, LogicalOrKernel, EveryType);
PHI_REGISTER_KERNEL(logical_xor, PHI_DEVICE, LogicalXorKernel, EveryType);
PHI_REGISTER_KERNEL(bitwise_and, PHI_DEVICE, BitwiseAndKernel, BitwiseTypes);
PHI_REGISTER_KERNEL(bitwise_or, PHI_DEVICE, BitwiseOrKernel, BitwiseTypes);
PHI_REGISTER_KERNEL(bitwise_xor, PHI_DEVICE, BitwiseXorKernel, BitwiseTypes);
PHI_REGISTER_KERNEL(bitwise_left_shift, PHI_DEVICE, BitwiseLeftShiftKernel, AllIntegers);
PHI_REGISTER_KERNEL(bitwise_right_shift, PHI_DEVICE, BitwiseRightShiftKernel, AllIntegers);

}  // namespace phi
