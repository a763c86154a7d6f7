// DeviceArena: memory of a hard limit that blocks of larger arrays are computed in. Without a GPU
// it is host memory that stands for a device's; bytes are copied in and out all the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {

class DeviceArena {
 public:
  explicit DeviceArena(int64_t limit) : limit_(limit) {}
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  /// Page-aligned, not initialised, counted until the arena ends. Errors: ResourceExhausted naming
  /// what is asked, held and allowed.
  AlignedBuffer take(int64_t nbytes);
  /// Counts memory that others take on the job's behalf. Errors: as take.
  void reserve(int64_t nbytes);

  int64_t limit() const { return limit_; }
  int64_t held() const { return held_; }

 private:
  int64_t limit_;
  int64_t held_ = 0;
};

}  // namespace phi::memory
