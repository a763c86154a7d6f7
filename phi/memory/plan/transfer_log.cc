// Stores planned actions and estimates their ends.
#include "phi/memory/plan/transfer_log.h"

#include <algorithm>
#include <utility>

namespace phi::memory {

double TransferCosts::seconds(Tier from, Tier to, int64_t nbytes) const {
  const bool disk = from == Tier::kDisk || to == Tier::kDisk;
  const double bytes_per_s = disk         ? disk_bytes_per_s
                             : from == to ? move_bytes_per_s
                                          : host_bytes_per_s;
  return latency_s + static_cast<double>(nbytes) / bytes_per_s;
}

Channel channel_of(const SwapAction& action) {
  if (action.from == Tier::kDisk || action.to == Tier::kDisk) return Channel::kDisk;
  return action.to == Tier::kDevice ? Channel::kToDevice : Channel::kFromDevice;
}

int32_t TransferLog::add(SwapAction action, int64_t nbytes, double now) {
  std::sort(action.after.begin(), action.after.end());
  action.after.erase(std::unique(action.after.begin(), action.after.end()), action.after.end());
  std::erase_if(action.after, [&](int32_t other) { return is_settled(other, action.issue); });
  action.due = std::numeric_limits<int32_t>::max();
  double end = now;
  for (int32_t other : action.after) end = std::max(end, end_of(other));
  if (action.kind == SwapAction::Kind::kCopy) {
    double& channel = free_at_[static_cast<size_t>(channel_of(action))];
    end = std::max(end, channel);
    end += costs_.seconds(action.from, action.to, nbytes);
    channel = end;
    stats_.add(action.from, action.to, nbytes);
  } else if (action.after.empty()) {
    action.due = action.issue;
  }
  actions_.push_back(std::move(action));
  ends_.push_back(end);
  return static_cast<int32_t>(actions_.size()) - 1;
}

void TransferLog::settle(int32_t action, int32_t launch) {
  std::vector<int32_t> open{action};
  while (!open.empty()) {
    SwapAction& next = at(open.back());
    settled_end_ = std::max(settled_end_, end_of(open.back()));
    open.pop_back();
    if (next.due <= launch) continue;
    next.due = launch;
    open.insert(open.end(), next.after.begin(), next.after.end());
  }
}

double TransferLog::take_settled_end() { return std::exchange(settled_end_, 0.0); }

std::vector<SwapAction> TransferLog::take(int32_t num_launches) {
  for (SwapAction& action : actions_) action.due = std::min(action.due, num_launches);
  return std::move(actions_);
}

}  // namespace phi::memory
