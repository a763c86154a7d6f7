// simulate_plan: predicts the time of a run of a SwapPlan, and its lower bound (the roofline).
#pragma once

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

struct SwapTimeline {
  double compute_s = 0;   // time of all launches
  double transfer_s = 0;  // time in which at least one transfer is in flight
  double exposed_s = 0;   // time in which a launch waits for a transfer
  double total_s = 0;     // compute_s + exposed_s
  /// Lower bound for every order of the same launches and transfers: the largest total time among
  /// compute and the channels.
  double roofline_s = 0;

  /// Share of the transfer time that computation hides; 1 if nothing moves.
  double hidden_share() const { return transfer_s > 0 ? 1 - exposed_s / transfer_s : 1; }
};

/// The channels are host to device, device to host, and disk (both directions). Each runs its
/// transfers in order.
SwapTimeline simulate_plan(const SwapPlan& plan, const SwapProgram& program,
                           const TransferCosts& costs = {});

}  // namespace phi::memory
