// LaunchLog: the operators whose kernels were launched last, for the error of a kernel that failed:
// CUDA tells of it later, and not which one it was.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "phi/common/errors.h"

namespace phi::gpu {

class LaunchLog {
 public:
  /// A kernel of the current operator was launched.
  void add() {
    const uint64_t at = count_.fetch_add(1, std::memory_order_relaxed);
    ops_[at % kKept].store(OpScope::current(), std::memory_order_relaxed);
  }
  /// "relu, sum, scale (the last of 812)"
  std::string describe() const;

 private:
  static constexpr size_t kKept = 8;
  std::array<std::atomic<const char*>, kKept> ops_{};
  std::atomic<uint64_t> count_{0};
};

}  // namespace phi::gpu
