// Converts Python values to C++ values, with errors that name the argument and its value.
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

/// The function and argument that a value belongs to, for errors.
struct Argument {
  const char* function;
  const char* name;
};

/// A description for errors: "str 'yes'", "None", "Tensor f32[2,3]". Long values are shortened.
std::string describe(PyObject* value);

/// Throws "matmul: argument 'transpose_x' must be bool, got str 'yes'" as a TypeError.
[[noreturn]] void refuse(const Argument& argument, const char* expected, PyObject* value);

/// Whether `value` counts as a list of values: a sequence that is neither text nor a tensor.
bool is_list(PyObject* value);
/// Converts a Python number to double. Errors: those of the interpreter if it is not a number.
double floating(PyObject* value);

/// Converts `value` to T: bool, int, int64_t, size_t, float, double, std::string, Scalar, IntArray,
/// DataType, DataLayout, Place, and vectors of int, int64_t, float, double, bool, std::string,
/// Scalar. NumPy's numbers are accepted as numbers; a bool is not. A single number is accepted as a
/// list of integers. Errors: TypeError; ValueError for an integer that T cannot represent.
template <typename T>
T converted(PyObject* value, const Argument& argument);

}  // namespace phi::python
