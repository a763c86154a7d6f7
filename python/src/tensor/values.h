// Converts Python values to tensors and back.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include "api/tensor/tensor.h"

namespace phi::python {

/// Returns a tensor with a copy of the values: numbers, nested lists of numbers, or an array of any
/// strides and byte order. `dtype`: None for the dtype of the values; floating Python numbers are
/// float32. Errors: ValueError for lists of different lengths and for numbers that the dtype cannot
/// represent; TypeError for values that are not numbers.
Tensor tensor_from(PyObject* data, PyObject* dtype);

/// Whether `value` is an array of another library: it has the buffer protocol, DLPack or __array__.
/// NumPy's scalars are arrays too.
bool is_array(PyObject* value);

/// Returns the tensor's value as a plain tensor: x, or the local part of a distributed tensor if it
/// is the whole value (parts_are_whole). Errors: InvalidArgument, which names `what`, otherwise.
Tensor local_whole_value(const Tensor& x, const char* what);

/// Returns nested lists of numbers, or a number for a 0-D tensor.
PyObject* list_of(const Tensor& x);
/// Returns the only element. Errors: InvalidArgument if there are more.
PyObject* item_of(const Tensor& x);

void bind_values(nanobind::module_& module);

}  // namespace phi::python
