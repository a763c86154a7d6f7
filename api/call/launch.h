// Launching a kernel: select by place and dtype, count, call. In a dry run the kernel is counted
// and its outputs stay without bytes.
#pragma once

#include <utility>

#include "api/call/common_place.h"
#include "api/call/decision.h"
#include "api/call/kernel_args.h"
#include "api/call/launch_step.h"
#include "api/call/placeholder_args.h"
#include "api/call/traced_shapes.h"
#include "phi/core/device/device.h"
#include "phi/core/output_watch.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"
#include "phi/core/trace/trace.h"

namespace phi {

/// One op that runs on this rank: counts it, and shows it where the rank keeps a trace.
class LaunchScope {
 public:
  /// `args`: the local arrays that it reads and writes; others are passed over.
  template <typename... Args>
  explicit LaunchScope(const OpDef& op, const Args&... args)
      : LaunchScope(RankContext::current(), op, args...) {}
  bool is_dry() const { return rank_.is_dry(); }
  OutputWatch* output_watch() const { return rank_.output_watch(); }

 private:
  template <typename... Args>
  LaunchScope(RankContext& rank, const OpDef& op, const Args&... args)
      : rank_(rank), span_(rank.trace(), TraceKind::kOp, op.name) {
    ++rank.counters().ops_launched;
    if (span_.event()) [[unlikely]]
      describe(*rank.trace(), args...);
  }

  template <typename... Args>
  [[gnu::cold, gnu::noinline]] void describe(Trace& trace, const Args&... args) {
    const TracedShapes shapes(args...);
    span_.event()->detail = trace.text(shapes.key(), [&] { return shapes.to_string(); });
  }

  RankContext& rank_;
  TraceScope span_;
};

namespace detail {

template <typename Signature>
struct Launch;

/// The launches of all kernels of one signature.
template <typename... Params>
struct Launch<KernelSignature<Params...>> {
  using Signature = KernelSignature<Params...>;

  static void plain(const OpDef& op, DataType dtype, Params... args) {
    at(common_place(op, args...), nullptr, op, dtype, args...);
  }

  static void at(const Place& place, const LaunchView* view, const OpDef& op, DataType dtype,
                 Params... args) {
    Device& device = Device::of(place);
    const KernelContext context(place, view);
    const LaunchScope scope(op, args...);
    if (scope.is_dry()) [[unlikely]] {
      if (op.kernel.is_registered()) op.kernel.check_has(device.kernels(), dtype);
      return dry(context, op, dtype, args...);
    }
    const auto kernel = op.kernel.template select<Signature>(device.kernels(), dtype);
    try {
      const Device::Work work(device);
      kernel(context, args...);
      if (OutputWatch* watch = scope.output_watch()) [[unlikely]] {
        show_outputs(*watch, op, args...);
      }
    } catch (Error& error) {
      name_placeholders(error, op, args...);
      throw;
    }
  }

 private:
  [[gnu::cold, gnu::noinline]] static void show_outputs(OutputWatch& watch, const OpDef& op,
                                                        Params... args) {
    KernelArgs visitor([](size_t, const DenseTensor&) {},
                       [&](const DenseTensor& output) { watch.wrote(op, output); });
    (visitor.add(args), ...);
  }

  // On a rank that computes nothing: recorded where a program is captured, else planned.
  [[gnu::cold, gnu::noinline]] static void dry(const KernelContext& context, const OpDef& op,
                                               DataType dtype, Params... args) {
    check_shapes_known(op, args...);
    if (Recorder* recorder = RankContext::current().recorder()) {
      auto view = context.view() ? context.view()->shared_from_this() : nullptr;
      return recorder->add(std::make_unique<LaunchStep<Signature>>(op, dtype, context.place(),
                                                                   std::move(view), args...));
    }
    plan_args(op, args...);
    const auto erased = op.kernel.find_dry(dtype);
    if (!erased) return;
    reinterpret_cast<typename Signature::Function>(erased)(context, args...);
  }
};

// What most operators have is compiled once (launch.cc), not with each of them.
extern template struct Launch<KernelSignature<const DenseTensor&, DenseTensor*>>;
extern template struct Launch<
    KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>>;
extern template struct Launch<KernelSignature<const DenseTensor&, const IntArray&, DenseTensor*>>;

}  // namespace detail

/// On plain tensors, where they lie. Name: of phi::kernels. Errors: Unimplemented if there is no
/// kernel for dtype, and in a dry run for an output whose shape only the kernel finds;
/// InvalidArgument for tensors of several places.
template <typename Name, typename... Args>
void launch(const OpDef& op, DataType dtype, Args&&... args) {
  detail::Launch<typename Name::Signature>::plain(op, dtype, std::forward<Args>(args)...);
}

/// On the local parts of a distributed call.
template <typename Name, typename... Args>
void launch(const OpDef& op, const Decision& decision, DataType dtype, Args&&... args) {
  detail::Launch<typename Name::Signature>::at(decision.place(), &decision, op, dtype,
                                               std::forward<Args>(args)...);
}

}  // namespace phi
