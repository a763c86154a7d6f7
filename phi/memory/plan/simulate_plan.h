// Predicts how long a run of a SwapPlan takes, and what the roofline would allow.
#pragma once

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

struct SwapTimeline {
  double compute_s = 0;   // of all launches
  double transfer_s = 0;  // in which at least one transfer is under way
  double exposed_s = 0;   // in which a launch waits for one
  double total_s = 0;     // compute_s + exposed_s
  /// No order of the same launches and transfers is faster: the busiest of compute and each
  /// channel.
  double roofline_s = 0;

  /// Of the transfer time; 1 if nothing moves.
  double hidden_share() const { return transfer_s > 0 ? 1 - exposed_s / transfer_s : 1; }
};

/// Channels: host to device, device to host, disk (both ways); each runs its transfers in order.
SwapTimeline simulate_plan(const SwapPlan& plan, const SwapProgram& program,
                           const TransferCosts& costs = {});

}  // namespace phi::memory
