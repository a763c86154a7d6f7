// Launching a kernel: select by backend and dtype, count, call.
#pragma once

#include <utility>

#include "phi/api/decision.h"
#include "phi/api/traced_shapes.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace.h"

namespace phi {

/// One op that runs on this rank: counts it, and records it where the rank keeps a trace.
class LaunchScope {
 public:
  /// `args`: the local arrays that it reads and writes; others are passed over.
  template <typename... Args>
  explicit LaunchScope(const OpDef& op, const Args&... args)
      : LaunchScope(RankContext::current(), op, args...) {}

 private:
  template <typename... Args>
  LaunchScope(RankContext& rank, const OpDef& op, const Args&... args)
      : span_(rank.trace(), TraceKind::kOp, op.name) {
    ++rank.counters().ops_launched;
    if (span_.event()) [[unlikely]]
      describe(*rank.trace(), args...);
  }

  template <typename... Args>
  [[gnu::cold, gnu::noinline]] void describe(Trace& trace, const Args&... args) {
    TracedShapes shapes;
    (shapes.add(args), ...);
    span_.event()->detail = trace.text(shapes.key(), [&] { return shapes.to_string(); });
  }

  TraceScope span_;
};

namespace detail {
template <typename Signature, typename... Args>
void launch_in(const CpuContext& context, const OpDef& op, DataType dtype, Args&&... args) {
  const auto kernel = op.kernel.select<Signature, CpuContext>(DeviceKind::CPU, dtype);
  const LaunchScope scope(op, args...);
  kernel(context, std::forward<Args>(args)...);
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
