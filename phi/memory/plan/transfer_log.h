// TransferLog: the actions of a plan so far, with the estimated end of each.
#pragma once

#include <span>
#include <vector>

#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

/// A channel runs its transfers one after the other.
enum class Channel : uint8_t { kToDevice = 0, kFromDevice, kDisk };
inline constexpr int kNumChannels = 3;

/// The channel of an action: the disk's channel for disk transfers, otherwise that of its
/// direction. Moves within the device use kToDevice.
Channel channel_of(const SwapAction& action);

class TransferLog {
 public:
  explicit TransferLog(const TransferCosts& costs) : costs_(costs) {}

  /// Adds an action and returns its index. Its transfer begins when its channel is free and the
  /// actions in `after` are complete, not before `now` (seconds). Actions that are settled at
  /// `action.issue` are removed from `after`.
  int32_t add(SwapAction action, int64_t nbytes, double now);
  /// Makes launch `launch` wait for the action and for all that the action waits for.
  void settle(int32_t action, int32_t launch);
  /// Whether everything that is issued at `launch` is ordered after the action.
  bool is_settled(int32_t action, int32_t launch) const { return at(action).due < launch; }

  SwapAction& at(int32_t action) { return actions_[static_cast<size_t>(action)]; }
  const SwapAction& at(int32_t action) const { return actions_[static_cast<size_t>(action)]; }
  /// Estimated times, in seconds since the beginning of the run.
  double end_of(int32_t action) const { return ends_[static_cast<size_t>(action)]; }
  double free_at(Channel channel) const { return free_at_[static_cast<size_t>(channel)]; }
  /// Latest estimated end among the actions that were settled since the last call.
  double take_settled_end();
  const TransferStats& stats() const { return stats_; }
  const TransferCosts& costs() const { return costs_; }

  /// Returns the actions. Those that no launch waits for are due at the end of the run.
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
