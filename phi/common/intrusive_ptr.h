// IntrusivePtr: a shared pointer to an object that contains its own reference count (RefCounted). A
// shared object is one allocation, and a handle is one pointer.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace phi {

/// Base class of shared objects. A derived class defines `static void destroy(Derived*)`, which
/// frees an object whose last reference is dropped.
template <typename Derived>
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  int64_t use_count() const { return count_.load(std::memory_order_relaxed); }

 protected:
  ~RefCounted() = default;

 private:
  template <typename T>
  friend class IntrusivePtr;
  void add_ref() { count_.fetch_add(1, std::memory_order_relaxed); }
  bool drop_ref() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  std::atomic<int64_t> count_{0};
};

template <typename T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  explicit(false) IntrusivePtr(std::nullptr_t) {}
  explicit(false) IntrusivePtr(T* object) : object_(object) {
    if (object_) object_->add_ref();
  }
  IntrusivePtr(const IntrusivePtr& other) : IntrusivePtr(other.object_) {}
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~IntrusivePtr() {
    if (object_ && object_->drop_ref()) T::destroy(object_);
  }

  /// Takes over a reference that release() returned.
  static IntrusivePtr adopt(T* object) {
    IntrusivePtr owner;
    owner.object_ = object;
    return owner;
  }
  T* release() { return std::exchange(object_, nullptr); }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) {
    return a.object_ == b.object_;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace phi
