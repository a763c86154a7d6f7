// The scratch memory of CPU kernels, stated from metadata. A dry run calls the statement of a
// kernel in place of the kernel, with the kernel's arguments, whose arrays have no bytes:
//
//   template <typename T, typename Context>
//   void WideScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& y, bool, bool,
//                    DenseTensor*) {
//     const PlannedScratch::Block left(ctx.scratch(), sizeof(float) * x.numel());
//     const PlannedScratch::Block right(ctx.scratch(), sizeof(float) * y.numel());
//   }
//   PHI_REGISTER_SCRATCH(matmul, WideScratch, Halves);
//
// A statement and its kernel must compute sizes with the same functions. A kernel template that is
// written in device primitives is its own statement (phi/kernels/cpu/planned_primitives.h).
#pragma once

#include "phi/core/device/device_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi {

/// Context of a statement. Requires that the calling rank's account has a MemoryLedger.
class ScratchContext : public KernelContext {
 public:
  explicit ScratchContext(const KernelContext& launch)
      : KernelContext(launch),
        scratch_(*MemoryLedger::scratch_of(*RankContext::current().memory())) {}
  PlannedScratch& scratch() const { return scratch_; }

 private:
  PlannedScratch& scratch_;
};

namespace detail {

template <typename Name, typename... Ts, typename Definitions>
bool register_scratch(TypeList<Ts...>, Definitions) {
  Kernel& kernel = Kernel::named(Name::kName);
  (kernel.add_scratch(
       dtype_of<Ts>(),
       reinterpret_cast<Kernel::Erased>(
           &KernelEntry<Definitions, ScratchContext, Ts, Name, typename Name::Signature>::run)),
   ...);
  return true;
}

template <typename Signature>
struct NoScratch;
template <typename... Args>
struct NoScratch<KernelSignature<Args...>> {
  static void run(const KernelContext&, Args...) {}
};

template <typename Name, typename... Ts>
bool register_no_scratch(TypeList<Ts...>) {
  Kernel& kernel = Kernel::named(Name::kName);
  const auto nothing = reinterpret_cast<Kernel::Erased>(&NoScratch<typename Name::Signature>::run);
  (kernel.add_scratch(dtype_of<Ts>(), nothing), ...);
  return true;
}

}  // namespace detail
}  // namespace phi

/// Registers the statement of a CPU kernel's scratch memory. Arguments: name, function template,
/// TypeList<...>.
#define PHI_REGISTER_SCRATCH(name, function, ...)                                \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_, __COUNTER__) = \
      ::phi::detail::register_scratch<::phi::kernels::name>(__VA_ARGS__{},       \
                                                            PHI_DEFINITIONS_(function))
/// States that a CPU kernel needs no scratch memory. Arguments: name, TypeList<...>.
#define PHI_REGISTER_NO_SCRATCH(name, ...)                                       \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_, __COUNTER__) = \
      ::phi::detail::register_no_scratch<::phi::kernels::name>(__VA_ARGS__{})
