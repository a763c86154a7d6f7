// TransferLog: the transfers that a planner has decided so far, with an estimate of when each ends.
#pragma once

#include <span>
#include <vector>

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

/// What carries transfers, one after the other.
enum class Channel : uint8_t { kToDevice = 0, kFromDevice, kDisk };
inline constexpr int kNumChannels = 3;

/// Disk transfers on the disk's channel, else by direction; moves share the way in.
Channel channel_of(const SwapAction& action);

class TransferLog {
 public:
  explicit TransferLog(const TransferCosts& costs) : costs_(costs) {}

  /// Adds an action; its transfer begins when its channel and what it waits for are done, not
  /// before `now` s. Waiting for what is settled at `action.issue` is left out. Returns its index.
  int32_t add(SwapAction action, int64_t nbytes, double now);
  /// Launch `launch` (and all later) comes after the action and all that it waits for.
  void settle(int32_t action, int32_t launch);
  /// What is issued at `launch` comes after the action, whatever happens.
  bool is_settled(int32_t action, int32_t launch) const { return at(action).due < launch; }

  SwapAction& at(int32_t action) { return actions_[static_cast<size_t>(action)]; }
  const SwapAction& at(int32_t action) const { return actions_[static_cast<size_t>(action)]; }
  /// Estimates, in seconds since the run began.
  double end_of(int32_t action) const { return ends_[static_cast<size_t>(action)]; }
  double free_at(Channel channel) const { return free_at_[static_cast<size_t>(channel)]; }
  /// When everything that has been settled since the last call ends.
  double take_settled_end();
  const TransferStats& stats() const { return stats_; }
  const TransferCosts& costs() const { return costs_; }

  /// What was never waited for is due at the end.
  std::vector<SwapAction> take(int32_t num_launches);

 private:
  TransferCosts costs_;
  std::vector<SwapAction> actions_;
  std::vector<double> ends_;
  std::array<double, kNumChannels> free_at_{};
  double settled_end_ = 0;
  TransferStats stats_;
};

}  // namespace phi::memory
