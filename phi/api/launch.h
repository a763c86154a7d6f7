// Launching a kernel: select by backend and dtype, count, call.
#pragma once

#include <utility>

#include "phi/api/decision.h"
#include "phi/core/rank_context.h"

namespace phi {

namespace detail {
template <typename Signature, typename... Args>
void launch_in(const CpuContext& context, const OpDef& op, DataType dtype, Args&&... args) {
  const auto kernel = op.kernel.select<Signature, CpuContext>(DeviceKind::CPU, dtype);
  ++RankContext::current().counters().ops_launched;
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
