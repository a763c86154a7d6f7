// PlanArena: the device memory of a plan, on the place where its steps compute.
#pragma once

#include <cstddef>
#include <span>

#include "phi/core/device/device.h"
#include "phi/core/storage/memory_account.h"
#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {

class PlanArena {
 public:
  /// Not initialised. Errors: ResourceExhausted if the place has no room.
  PlanArena(size_t nbytes, const Place& place);
  ~PlanArena();
  PlanArena(const PlanArena&) = delete;
  PlanArena& operator=(const PlanArena&) = delete;

  /// The host reads and writes it only where device().is_host().
  std::byte* data() const { return data_; }
  Device& device() const { return device_; }

  // Done when they return; whatever was launched before on the device comes before them.
  void read(int64_t offset, std::span<std::byte> out) const;
  void write(int64_t offset, std::span<const std::byte> value);
  /// Both ranges may overlap. What is launched afterwards comes after it; in a device with copies
  /// of its own it is one of these, on the way there.
  void move(int64_t to, int64_t from, size_t nbytes);

 private:
  Device& device_;
  size_t nbytes_;
  AlignedBuffer on_host_;  // whole pages; where the device is the host's
  IntrusivePtr<MemoryAccount> account_;
  std::byte* data_ = nullptr;
};

}  // namespace phi::memory
