// Errors of the library as exceptions of Python, and the way from C++ back to the interpreter.
#pragma once

#include <Python.h>

#include <string>
#include <utility>

#include "phi/common/errors.h"

namespace phi::python {

/// The class that an error of this code is an instance of: ValueError, IndexError, ...
PyObject* exception_class(ErrorCode code);

/// For a handler of C++ exceptions that returns to the interpreter: the exception that is being
/// handled becomes the interpreter's. Its text stays as it is.
void set_python_error() noexcept;

/// The same for functions that nanobind calls. Once, when the module is made.
void register_errors();

/// Throws what the interpreter has as its error (from a call of its C API that failed).
[[noreturn]] void throw_python_error();
/// Throws an exception of this class.
[[noreturn]] void raise(PyObject* exception_class, const std::string& message);

/// f() for a function that the interpreter calls: null with an error where it throws.
template <typename F>
PyObject* guarded(F&& f) noexcept {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
/// The same for functions that answer with a number, below 0 in case of an error.
template <typename F>
auto guarded_status(F&& f) noexcept -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

/// `object`, a new reference. Throws the interpreter's error where it is null.
inline PyObject* checked(PyObject* object) {
  if (object == nullptr) [[unlikely]]
    throw_python_error();
  return object;
}
inline void checked(int status) {
  if (status < 0) [[unlikely]]
    throw_python_error();
}

}  // namespace phi::python
