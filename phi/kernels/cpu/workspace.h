// Workspace: scratch memory of a kernel that grows to the largest requested size and is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "phi/kernels/cpu/scratch.h"

namespace phi {

class Workspace {
 public:
  /// Returns 64-byte aligned, uninitialised memory for n elements. Earlier contents are lost if the
  /// memory grows.
  ///
  /// Errors   std::bad_alloc.
  template <typename T>
  T* room(int64_t n) {
    const auto nbytes = static_cast<size_t>(n) * sizeof(T);
    if (nbytes > size_) {
      block_.reset();
      size_ = 0;
      block_.reset(allocate_scratch(nbytes));
      size_ = nbytes;
    }
    return data<T>();
  }
  /// Returns the memory of the last room().
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(block_.get());
  }

 private:
  struct Free {
    void operator()(std::byte* block) const { free_scratch(block); }
  };
  std::unique_ptr<std::byte[], Free> block_;
  size_t size_ = 0;
};

}  // namespace phi
