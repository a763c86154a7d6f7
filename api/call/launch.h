// Launches a kernel: selects it by place and dtype, counts the launch, and calls it. A dry run
// counts the launch and leaves the outputs without bytes.
#pragma once

#include <utility>

#include "api/call/args/common_place.h"
#include "api/call/args/kernel_args.h"
#include "api/call/args/placeholder_args.h"
#include "api/call/args/traced_shapes.h"
#include "api/call/decision.h"
#include "api/call/launch_step.h"
#include "api/call/planned_launch.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"
#include "phi/core/trace/trace.h"

namespace phi {

/// The launch of one op on this rank. Counts the launch and adds a span to the rank's traces.
class LaunchScope {
 public:
  explicit LaunchScope(const OpDef& op) : LaunchScope(RankContext::current(), op) {}
  bool is_dry() const { return rank_.is_dry(); }
  bool is_observed() const { return rank_.observers().any_events(); }
  bool is_traced() const { return span_.is_open(); }
  /// Adds the shapes of these arrays to the traces.
  void describe(const detail::KernelArrays& arrays) const;
  /// Reports the arrays that the kernel has written to the observers.
  void report_outputs(const OpDef& op, const detail::KernelArrays& arrays) const;

 private:
  LaunchScope(RankContext& rank, const OpDef& op)
      : rank_(rank), span_(rank, TraceKind::kOp, op.name) {
    ++rank.counters().ops_launched;
  }

  RankContext& rank_;
  TraceScope span_;
};

namespace detail {

// The rare parts of a launch, which are shared by all signatures (launch.cc).

/// Adds the launch to the program that is being captured, as a step.
void record_launch(Recorder& recorder, const KernelContext& context, const OpDef& op,
                   DataType dtype, StoredArgs&& args, LaunchStep::LaunchFunction run);

template <typename Signature>
struct KernelLauncher;

/// Launches kernels of one signature.
template <typename... Params>
struct KernelLauncher<KernelSignature<Params...>> {
  using Function = typename KernelSignature<Params...>::Function;

  static void plain(const OpDef& op, DataType dtype, Params... args) {
    CommonPlace place(op);
    (place.add(args), ...);
    at(place.found(), nullptr, op, dtype, args...);
  }

  static void at(const Place& place, const LaunchView* view, const OpDef& op, DataType dtype,
                 Params... args) {
    Device& device = Device::of(place);
    const KernelContext context(place, view);
    const LaunchScope scope(op);
    if (scope.is_traced()) [[unlikely]]
      scope.describe(arrays(args...));
    if (scope.is_dry()) [[unlikely]] {
      if (op.kernel.is_registered()) op.kernel.check_has(device.kernels(), dtype);
      return dry(context, op, dtype, args...);
    }
    const auto kernel =
        op.kernel.template select<KernelSignature<Params...>>(device.kernels(), dtype);
    try {
      const Device::Work work(device);
      kernel(context, args...);
      if (scope.is_observed()) [[unlikely]]
        scope.report_outputs(op, arrays(args...));
    } catch (Error& error) {
      name_placeholders(error, op, arrays(args...));
      throw;
    }
  }

 private:
  [[gnu::cold, gnu::noinline]] static KernelArrays arrays(Params... args) {
    KernelArrays arrays;
    (arrays.add(args), ...);
    return arrays;
  }

  // The launch on a dry rank: a step of the program that is being captured, or else a planned
  // launch.
  [[gnu::cold, gnu::noinline]] static void dry(const KernelContext& context, const OpDef& op,
                                               DataType dtype, Params... args) {
    const KernelArrays all = arrays(args...);
    check_shapes_known(op, all);
    RankContext& rank = RankContext::current();
    if (rank.recorder() != nullptr || rank.observers().any_events()) {
      StoredArgs stored(op);
      (stored.add(args), ...);
      if (Recorder* recorder = rank.recorder())
        return record_launch(*recorder, context, op, dtype, std::move(stored), run_stored);
      report_planned(op, stored);
    }
    plan_arrays(op, all);
    if (const auto statement = scratch_statement(op, dtype)) {
      reinterpret_cast<Function>(statement)(context, args...);
    }
    if (const auto kernel = op.kernel.find_dry(dtype)) {
      reinterpret_cast<Function>(kernel)(context, args...);
    }
  }

  [[gnu::cold, gnu::noinline]] static void run_stored(Kernel::Erased kernel,
                                                      const KernelContext& context,
                                                      const StoredArgs& args) {
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      reinterpret_cast<Function>(kernel)(context, args.get<Params>(kIndex)...);
    }
    (std::index_sequence_for<Params...>());
  }
};

// The signatures of most operators are instantiated once (launch.cc), to save compile time.
extern template struct KernelLauncher<KernelSignature<const DenseTensor&, DenseTensor*>>;
extern template struct KernelLauncher<
    KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>>;
extern template struct KernelLauncher<
    KernelSignature<const DenseTensor&, const IntArray&, DenseTensor*>>;

}  // namespace detail

/// Launches the kernel of a call on plain tensors, at their place. Name: a type of phi::kernels.
/// Errors: Unimplemented if there is no kernel for `dtype`, and in a dry run if an output's shape
/// is data-dependent; InvalidArgument for tensors of different places.
template <typename Name, typename... Args>
void launch(const OpDef& op, DataType dtype, Args&&... args) {
  detail::KernelLauncher<typename Name::Signature>::plain(op, dtype, std::forward<Args>(args)...);
}

/// Launches the kernel of a distributed call on its local parts. Errors: Unimplemented, as above.
template <typename Name, typename... Args>
void launch(const OpDef& op, const Decision& decision, DataType dtype, Args&&... args) {
  detail::KernelLauncher<typename Name::Signature>::at(decision.place(), &decision, op, dtype,
                                                       std::forward<Args>(args)...);
}

}  // namespace phi
