// PlanArena: the device memory of a SwapPlan, on the place on which its steps compute.
#pragma once

#include <cstddef>
#include <span>

#include "phi/core/device/device.h"
#include "phi/core/storage/memory_account.h"
#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {

class PlanArena {
 public:
  /// Allocates uninitialised memory. Errors: ResourceExhausted if there is not enough.
  PlanArena(size_t nbytes, const Place& place);
  ~PlanArena();
  PlanArena(const PlanArena&) = delete;
  PlanArena& operator=(const PlanArena&) = delete;

  /// The host may access this memory only if device().is_host().
  std::byte* data() const { return data_; }
  Device& device() const { return device_; }

  // Both are ordered after earlier launches on the device, and are complete on return.
  void read(int64_t offset, std::span<std::byte> out) const;
  void write(int64_t offset, std::span<const std::byte> value);
  /// Moves bytes within the arena; the ranges may overlap. Ordered before later launches. On a
  /// device with CopyQueues the move is enqueued as a copy to the device instead.
  void move(int64_t to, int64_t from, size_t nbytes);

 private:
  Device& device_;
  size_t nbytes_;
  AlignedBuffer on_host_;  // the memory, in whole pages, if device_.is_host()
  IntrusivePtr<MemoryAccount> account_;
  std::byte* data_ = nullptr;
};

}  // namespace phi::memory
