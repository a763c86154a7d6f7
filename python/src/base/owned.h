// Owned: an owning reference to a Python object, released by the destructor.
#pragma once

#include <Python.h>

#include <utility>

namespace phi::python {

class Owned {
 public:
  Owned() = default;
  /// Takes ownership of a new reference; null: no object.
  explicit Owned(PyObject* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { Py_XDECREF(object_); }
  static Owned borrow(PyObject* object) { return Owned(Py_XNewRef(object)); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace phi::python
