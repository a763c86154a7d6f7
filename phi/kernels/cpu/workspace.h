// Scratch memory of a kernel: grows to the largest size asked for and keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace phi {

class Workspace {
 public:
  /// 64-byte aligned room for n elements, not initialised; what was here before is lost if it
  /// grows.
  template <typename T>
  T* room(int64_t n) {
    const auto nbytes = static_cast<size_t>(n) * sizeof(T);
    if (nbytes > size_) {
      block_.reset();
      size_ = 0;
      block_.reset(static_cast<std::byte*>(::operator new(nbytes, kAlignment)));
      size_ = nbytes;
    }
    return data<T>();
  }
  /// What room() last gave.
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(block_.get());
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* block) const { ::operator delete(block, kAlignment); }
  };
  std::unique_ptr<std::byte[], Free> block_;
  size_t size_ = 0;
};

}  // namespace phi
