// Translates C++ exceptions to Python exceptions, and errors of the interpreter to C++ exceptions.
#pragma once

#include <Python.h>

#include <string>
#include <utility>

#include "phi/common/errors.h"

namespace phi::python {

/// Returns the exception class for errors of this code: ValueError, IndexError, ... A borrowed
/// reference.
PyObject* exception_class(ErrorCode code);

/// Sets the interpreter's error from the C++ exception that is being handled; the text is
/// unchanged. Called in a catch block of a function that then returns to the interpreter.
void set_python_error() noexcept;

/// Registers the same translation for functions that nanobind calls. Called once, when the module
/// is initialised.
void register_errors();

/// Throws the interpreter's current error, after a call of its C API that failed.
[[noreturn]] void throw_python_error();
/// Throws an exception of this class.
[[noreturn]] void raise(PyObject* exception_class, const std::string& message);

/// Returns f(), for a function that the interpreter calls. If f throws, sets the interpreter's
/// error and returns null.
template <typename F>
PyObject* guarded(F&& f) noexcept {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
/// The same for functions that return a number, which is -1 in case of an error.
template <typename F>
auto guarded_status(F&& f) noexcept -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

/// Returns `object`. Throws the interpreter's error if it is null.
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
