// DeviceArena: memory with a hard limit, for the blocks of an out-of-core matmul. It is host memory
// that models device memory: bytes are copied in and out as on a device.
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

  /// Allocates uninitialised, page-aligned memory. It counts towards the limit until the arena is
  /// destroyed. Errors: ResourceExhausted, with the requested, held and allowed bytes.
  AlignedBuffer take(int64_t nbytes);
  /// Counts memory that other code allocates for the matmul. Errors: those of take.
  void reserve(int64_t nbytes);

  int64_t limit() const { return limit_; }
  int64_t held() const { return held_; }

 private:
  int64_t limit_;
  int64_t held_ = 0;
};

}  // namespace phi::memory
