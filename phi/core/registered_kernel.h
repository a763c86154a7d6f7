// Calls a registered kernel without its operator, for tests and benchmarks.
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
  /// Runs the kernel on the context's place. Errors: Unimplemented if there is none for its kind of
  /// device; those of the kernel.
  void operator()(const KernelContext& context, Args... args) const {
    select(context.place().kind)(context, args...);
  }
  /// The address of the CPU kernel.
  explicit(false) operator Function() const { return select(DeviceKind::CPU); }

 private:
  static Function select(DeviceKind kind) {
    return Kernel::named(Name::kName).template select<Signature>(kind, dtype_of<T>());
  }
};

/// `Name` is a type of phi::kernels. T selects the dtype of the kernel.
template <typename Name, typename T>
inline constexpr RegisteredKernel<Name, T> registered{};

}  // namespace phi
