// InlineVector: a vector of trivially copyable elements that allocates only beyond N elements.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace phi {

template <typename T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void push_back(const T& value) {
    if (size_ < N) {
      inline_[size_] = value;
    } else {
      if (size_ == N) heap_.assign(inline_.begin(), inline_.end());
      heap_.push_back(value);
    }
    ++size_;
  }
  size_t size() const { return size_; }
  const T* data() const { return size_ <= N ? inline_.data() : heap_.data(); }
  T* data() { return size_ <= N ? inline_.data() : heap_.data(); }
  const T& operator[](size_t i) const { return data()[i]; }
  T& operator[](size_t i) { return data()[i]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  explicit(false) operator std::span<const T>() const { return {data(), size_}; }

 private:
  std::array<T, N> inline_;
  size_t size_ = 0;
  std::vector<T> heap_;
};

}  // namespace phi
