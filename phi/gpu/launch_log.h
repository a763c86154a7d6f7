// LaunchLog: the operators of the last kernel launches. CUDA reports a kernel's failure at a later
// call and does not name the kernel, so the error message lists the candidates.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "phi/common/errors.h"

namespace phi::gpu {

class LaunchLog {
 public:
  /// Adds the current operator. Safe to call from any thread.
  void add() {
    const uint64_t at = count_.fetch_add(1, std::memory_order_relaxed);
    ops_[at % kKept].store(OpScope::current(), std::memory_order_relaxed);
  }
  /// For example "relu, sum, scale (the last of 812)".
  std::string describe() const;

 private:
  static constexpr size_t kKept = 8;
  std::array<std::atomic<const char*>, kKept> ops_{};
  std::atomic<uint64_t> count_{0};
};

}  // namespace phi::gpu
