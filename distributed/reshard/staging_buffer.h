// Staging: a buffer for boxes that are not contiguous in their arrays.
#pragma once

#include "phi/core/device/host_array.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::distributed {

/// Owns the buffer. It must outlive the messages from and to it.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(const Device& device, size_t bytes) {
    if (bytes == 0) return;
    const MemoryUseScope use(MemoryUse::kMessages);
    memory_ = DeviceMemory(device, bytes);
    next_ = memory_.data();
  }

  /// Allocates from the buffer. The sum of round_up(bytes) over all calls must not exceed the
  /// constructor's bytes.
  std::byte* allocate(size_t bytes) {
    std::byte* allocated = next_;
    next_ += round_up(bytes);
    return allocated;
  }
  static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  DeviceMemory memory_;
  std::byte* next_ = nullptr;
};

}  // namespace phi::distributed
