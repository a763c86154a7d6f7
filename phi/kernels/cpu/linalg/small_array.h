// SmallArray: an array that does not allocate if its elements are few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "phi/kernels/cpu/scratch.h"

namespace phi::linalg {

/// An array of fixed size, 64-byte aligned. Up to 256 bytes are stored in the object, more in
/// scratch memory.
template <typename T>
class SmallArray {
 public:
  using value_type = T;
  static_assert(std::is_trivially_copyable_v<T>);

  // Not defaulted: `{}` would then clear the inline storage as well.
  SmallArray() : data_(inside()) {}
  /// Zeros. Errors: std::bad_alloc.
  explicit SmallArray(size_t size) : SmallArray(size, Room()) { std::fill_n(data_, size, T()); }
  SmallArray(const SmallArray& other) : SmallArray(other.size_, Room()) {
    std::copy_n(other.data_, size_, data_);
  }
  SmallArray(SmallArray&& other) noexcept : data_(inside()) { take(other); }
  SmallArray& operator=(SmallArray other) noexcept {
    give_back();
    take(other);
    return *this;
  }
  ~SmallArray() { give_back(); }

  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  struct Room {};
  static constexpr size_t kInside = 256 / sizeof(T);

  SmallArray(size_t size, Room) : size_(size), data_(inside()) {
    if (size > kInside) data_ = reinterpret_cast<T*>(allocate_scratch(size * sizeof(T)));
  }
  T* inside() { return reinterpret_cast<T*>(inside_); }
  void give_back() {
    if (data_ != inside()) free_scratch(reinterpret_cast<std::byte*>(data_));
  }
  /// Moves the elements of `other`, which is empty afterwards.
  void take(SmallArray& other) {
    size_ = std::exchange(other.size_, 0);
    if (other.data_ == other.inside()) {
      data_ = inside();
      std::copy_n(other.data_, size_, data_);
    } else {
      data_ = std::exchange(other.data_, other.inside());
    }
  }

  size_t size_ = 0;
  T* data_;
  alignas(64) std::byte inside_[kInside * sizeof(T)];
};

}  // namespace phi::linalg
