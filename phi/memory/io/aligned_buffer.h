// AlignedBuffer: page-aligned host memory, as direct I/O requires it.
#pragma once

#include <cstddef>
#include <utility>

#include "phi/core/device/device.h"
#include "phi/memory/plan/page.h"

namespace phi::memory {

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Allocates uninitialised memory by device.allocate_host; the size is rounded up to pages.
  /// Errors: ResourceExhausted.
  explicit AlignedBuffer(size_t nbytes, Device& device = Device::of(CPUPlace()));
  ~AlignedBuffer() {
    if (data_) device_->free_host(data_);
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept { swap(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    AlignedBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void swap(AlignedBuffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace phi::memory
