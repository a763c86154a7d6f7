// Maps errors to exception classes.
#include "python/src/base/errors.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <new>
#include <stdexcept>

namespace phi::python {

namespace nb = nanobind;

PyObject* exception_class(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kAlreadyExists:
      return PyExc_ValueError;
    case ErrorCode::kNotFound:
      return PyExc_LookupError;
    case ErrorCode::kOutOfRange:
      return PyExc_IndexError;
    case ErrorCode::kNotFinite:
      return PyExc_FloatingPointError;
    case ErrorCode::kResourceExhausted:
      return PyExc_MemoryError;
    case ErrorCode::kPermissionDenied:
      return PyExc_PermissionError;
    case ErrorCode::kExecutionTimeout:
      return PyExc_TimeoutError;
    case ErrorCode::kUnimplemented:
      return PyExc_NotImplementedError;
    case ErrorCode::kPreconditionNotMet:
    case ErrorCode::kUnavailable:
    case ErrorCode::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

// The error for a failed cast of nanobind, whose exception has no details.
static void refuse_cast() { PyErr_SetString(PyExc_TypeError, "a value has the wrong type"); }

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    PyErr_SetString(exception_class(error.code()), error.what());
  } catch (const nb::cast_error&) {
    refuse_cast();
  } catch (const std::bad_alloc& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an exception of unknown type");
  }
}

void register_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(exception_class(error.code()), error.what());
    } catch (const nb::cast_error&) {
      refuse_cast();
    }
  });
}

void throw_python_error() { throw nb::python_error(); }

void raise(PyObject* exception_class, const std::string& message) {
  PyErr_SetString(exception_class, message.c_str());
  throw_python_error();
}

}  // namespace phi::python
