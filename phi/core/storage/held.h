// Held: one thread at a time, where waiting is rare and the flag is a byte of an object.
#pragma once

#include <atomic>

namespace phi {

/// Holds the flag while it lives. Sources may read other storages, so each has a flag of its own.
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
