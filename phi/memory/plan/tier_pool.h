// TierPool: the bytes of a lower tier, reserved in the order of the plan. Bytes that a transfer
// will free can be reserved before it completes. The new owner then waits for that transfer, so the
// limit holds at every moment of every run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace phi::memory {

class TierPool {
 public:
  static constexpr int32_t kNow = -1;

  explicit TierPool(int64_t limit) : limit_(limit), available_(limit) {}

  /// Bytes that are free or will be freed by a planned transfer, and are not reserved.
  int64_t available() const { return available_; }
  int64_t limit() const { return limit_; }
  int64_t peak_bytes() const { return peak_; }

  /// Makes `bytes` available; they become free when transfer `action` completes.
  void release(int64_t bytes, int32_t action) {
    available_ += bytes;
    if (action != kNow) freed_.push_back({bytes, bytes, action});
  }

  /// Reserves `bytes`, at most available(). Free bytes are used first, then those of the earliest
  /// transfers. Adds to `after` the transfers to wait for: all unsettled ones of whose bytes a part
  /// is reserved. `is_settled(action)` returns whether an action is certainly complete.
  template <typename IsSettled>
  void reserve(int64_t bytes, const IsSettled& is_settled, std::vector<int32_t>* after) {
    std::erase_if(freed_, [&](const Freed& freed) { return is_settled(freed.action); });
    int64_t held = 0;
    for (const Freed& freed : freed_) held += freed.left;
    int64_t missing = bytes - (available_ - held);
    for (Freed& freed : freed_) {
      const int64_t taken = std::clamp<int64_t>(missing, 0, freed.left);
      freed.left -= taken;
      missing -= taken;
      held -= taken;
      if (freed.left < freed.bytes) after->push_back(freed.action);
    }
    available_ -= bytes;
    peak_ = std::max(peak_, limit_ - available_ + held);
  }

 private:
  struct Freed {
    int64_t bytes;
    int64_t left;  // not reserved yet
    int32_t action;
  };
  int64_t limit_;
  int64_t available_;
  int64_t peak_ = 0;
  std::vector<Freed> freed_;
};

}  // namespace phi::memory
