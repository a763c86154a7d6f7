// Staging: memory for boxes that do not lie in one piece.
#pragma once

#include "phi/core/device/host_array.h"

namespace phi::distributed {

/// Lives as long as the messages from and to it.
class Staging {
 public:
  Staging() = default;
  Staging(const Device& device, size_t bytes) {
    if (bytes == 0) return;
    memory_ = DeviceMemory(device, bytes);
    next_ = memory_.data();
  }

  /// Of all calls together, the sum of round_up(bytes) is at most the constructor's bytes.
  std::byte* take(size_t bytes) {
    std::byte* taken = next_;
    next_ += round_up(bytes);
    return taken;
  }
  static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  DeviceMemory memory_;
  std::byte* next_ = nullptr;
};

}  // namespace phi::distributed
