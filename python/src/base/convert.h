// Values of Python as values of C++, with errors that name the argument and what it is.
//
//   const bool on = converted<bool>(value, {"matmul", "transpose_x"});
//   // TypeError: matmul: argument 'transpose_x' must be bool, got str 'yes'
#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "phi/common/dtype.h"
#include "phi/common/layout.h"
#include "phi/common/place.h"
#include "phi/core/attribute.h"

namespace phi::python {

/// Whose argument a value is, for errors.
struct Argument {
  const char* function;
  const char* name;
};

/// "str 'yes'", "None", "Tensor f32[2,3]"; long values are cut short.
std::string describe(PyObject* value);

/// Throws "matmul: argument 'transpose_x' must be bool, got str 'yes'" as a TypeError.
[[noreturn]] void refuse(const Argument& argument, const char* expected, PyObject* value);

/// Whether it stands for a list of values: a sequence, but no text and no tensor.
bool is_list(PyObject* value);
/// A number of Python as a double. Errors: what Python says of a value that is none.
double floating(PyObject* value);

/// T: bool, int, int64_t, size_t, float, double, std::string, Scalar, IntArray, DataType,
/// DataLayout, Place, and vectors of int, int64_t, float, double, bool, std::string, Scalar.
/// Numbers of NumPy are numbers; a bool is none. One number stands for a list of it where integers
/// are wanted. Errors: TypeError; ValueError for an integer that T has not.
template <typename T>
T converted(PyObject* value, const Argument& argument);

}  // namespace phi::python
