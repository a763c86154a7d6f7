// AlignedBuffer: host memory that begins on a page, as direct disk I/O needs it.
#pragma once

#include <cstddef>
#include <memory>

#include "phi/memory/plan/page.h"

namespace phi::memory {

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Not initialised; its size is rounded up to pages. Errors: ResourceExhausted.
  explicit AlignedBuffer(size_t nbytes);

  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  size_t size_ = 0;
};

}  // namespace phi::memory
