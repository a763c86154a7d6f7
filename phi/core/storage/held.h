// Held: a scoped lock on an atomic_flag, for one-byte locks inside objects that are rarely
// contended.
#pragma once

#include <atomic>

namespace phi {

/// Locks `flag` for its lifetime. Each storage needs its own flag, because reading a storage's
/// source may read other storages.
class Held {
 public:
  explicit Held(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true);
  }
  ~Held() {
    flag_.clear(std::memory_order_release);
    flag_.notify_one();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace phi
