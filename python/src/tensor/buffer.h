// Shares memory with arrays of NumPy, memoryview and others by Python's buffer protocol.
#pragma once

#include <Python.h>

#include "api/tensor/tensor.h"

namespace phi::python {

/// Returns a tensor with a copy of the array, of any strides and byte order. Errors: TypeError for
/// an element type without a dtype.
Tensor copy_of_buffer(PyObject* array);

/// Returns a tensor that shares the array's memory and owns a reference to the array. Errors:
/// ValueError, which states reason and remedy, if the memory is read-only, not row-major, not
/// aligned or in another byte order; TypeError for an element type without a dtype.
Tensor tensor_over_buffer(PyObject* array);

}  // namespace phi::python
