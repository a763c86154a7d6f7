// Owned: an owning reference to a Python object, released by the destructor.
#pragma once

#include <Python.h>

#include <utility>

namespace phi::python {

class PyRef {
 public:
  PyRef() = default;
  /// Takes ownership of a new reference; null: no object.
  explicit PyRef(PyObject* object) : object_(object) {}
  PyRef(PyRef&& other) noexcept : object_(other.release()) {}
  PyRef& operator=(PyRef&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object_); }
  static PyRef borrow(PyObject* object) { return PyRef(Py_XNewRef(object)); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace phi::python
