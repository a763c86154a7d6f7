// Launching a kernel: select by backend and dtype, count, call. In a dry run the kernel is counted
// and its outputs stay without bytes.
#pragma once

#include <utility>

#include "api/call/decision.h"
#include "api/call/launch_step.h"
#include "api/call/placeholder_args.h"
#include "api/call/traced_shapes.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"
#include "phi/core/trace.h"

namespace phi {

/// One op that runs on this rank: counts it, and shows it where the rank keeps a trace.
class LaunchScope {
 public:
  /// `args`: the local arrays that it reads and writes; others are passed over.
  template <typename... Args>
  explicit LaunchScope(const OpDef& op, const Args&... args)
      : LaunchScope(RankContext::current(), op, args...) {}
  bool is_dry() const { return rank_.is_dry(); }

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
/// The launch on a rank that computes nothing: recorded where a program is captured, else planned.
/// Errors: Unimplemented for an output whose shape only the kernel finds.
template <typename Signature, typename... Args>
[[gnu::cold, gnu::noinline]] void launch_dry(const CpuContext& context, const OpDef& op,
                                             DataType dtype, Args&&... args) {
  check_shapes_known(op, args...);
  if (Recorder* recorder = RankContext::current().recorder()) {
    using Recorded = LaunchStep<Signature>;
    auto view = context.view() ? context.view()->shared_from_this() : nullptr;
    return recorder->add(std::make_unique<Recorded>(op, dtype, std::move(view), args...));
  }
  plan_args(op, args...);
  const auto erased = op.kernel.find_dry(dtype);
  if (!erased) return;
  const auto kernel = reinterpret_cast<typename Signature::template Function<CpuContext>>(erased);
  kernel(context, std::forward<Args>(args)...);
}

template <typename Signature, typename... Args>
void launch_in(const CpuContext& context, const OpDef& op, DataType dtype, Args&&... args) {
  const auto kernel = op.kernel.select<Signature, CpuContext>(DeviceKind::CPU, dtype);
  const LaunchScope scope(op, args...);
  if (scope.is_dry()) [[unlikely]] {
    return launch_dry<Signature>(context, op, dtype, std::forward<Args>(args)...);
  }
  try {
    kernel(context, std::forward<Args>(args)...);
  } catch (Error& error) {
    name_placeholders(error, op, args...);
    throw;
  }
}
}  // namespace detail

/// On plain tensors. Errors: Unimplemented if there is no kernel for dtype.
template <typename Signature, typename... Args>
void launch(const OpDef& op, DataType dtype, Args&&... args) {
  detail::launch_in<Signature>(CpuContext(), op, dtype, std::forward<Args>(args)...);
}

/// On the local parts of a distributed call.
template <typename Signature, typename... Args>
void launch(const OpDef& op, const Decision& decision, DataType dtype, Args&&... args) {
  detail::launch_in<Signature>(CpuContext(&decision), op, dtype, std::forward<Args>(args)...);
}

}  // namespace phi
