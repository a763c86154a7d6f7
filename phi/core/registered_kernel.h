// A registered kernel as a function, for who launches it without an operator: tests, benchmarks.
//
//   registered<kernels::relu, float>(KernelContext(), x, &out);
#pragma once

#include "phi/core/kernel_registry.h"

namespace phi {

template <typename Name, typename T, typename = typename Name::Signature>
struct RegisteredKernel;
template <typename Name, typename T, typename... Args>
struct RegisteredKernel<Name, T, KernelSignature<Args...>> {
  using Signature = KernelSignature<Args...>;
  using Function = typename Signature::Function;
  /// Runs on the context's place. Errors: Unimplemented if there is none for it; the kernel's.
  void operator()(const KernelContext& context, Args... args) const {
    select(context.place().kind)(context, args...);
  }
  /// The one for the CPU.
  explicit(false) operator Function() const { return select(DeviceKind::CPU); }

 private:
  static Function select(DeviceKind kind) {
    return Kernel::named(Name::kName).template select<Signature>(kind, dtype_of<T>());
  }
};

/// Name: of phi::kernels. T: the dtype by which the kernel is chosen.
template <typename Name, typename T>
inline constexpr RegisteredKernel<Name, T> registered{};

}  // namespace phi
