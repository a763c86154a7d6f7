// SpinLockGuard: a scoped lock on an atomic_flag, for one-byte locks inside objects that are rarely
// contended.
#pragma once

#include <atomic>

namespace phi {

/// Locks `flag` for its lifetime. Each storage needs its own flag, because reading a storage's
/// source may read other storages.
class SpinLockGuard {
 public:
  explicit SpinLockGuard(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true);
  }
  ~SpinLockGuard() {
    flag_.clear(std::memory_order_release);
    flag_.notify_one();
  }
  SpinLockGuard(const SpinLockGuard&) = delete;
  SpinLockGuard& operator=(const SpinLockGuard&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace phi
