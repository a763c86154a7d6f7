// Memory shared with arrays of others by Python's buffer protocol: NumPy, memoryview, array.
#pragma once

#include <Python.h>

#include "api/tensor/tensor.h"

namespace phi::python {

/// A tensor of a copy of the array, whatever its strides and its byte order. Errors: TypeError for
/// elements of a type that no dtype has.
Tensor copy_of_buffer(PyObject* array);

/// A tensor in the array's own memory: what one writes the other has. It keeps the array. Errors:
/// ValueError, saying why and what to do instead, where the memory is read-only, not row-major or
/// in another byte order; TypeError as above.
Tensor tensor_over_buffer(PyObject* array);

}  // namespace phi::python
