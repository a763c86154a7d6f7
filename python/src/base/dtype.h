// Dtypes in Python: autophi.float32 and the others, one object each. A name ("float32"), a type of
// Python (float, int, bool, complex) and a dtype of NumPy or ml_dtypes stand for one too.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include "phi/common/dtype.h"
#include "python/src/base/convert.h"

namespace phi::python {

/// The type autophi.dtype, and its objects, into the module.
void make_dtypes(nanobind::module_& module);

/// The object; a borrowed reference that stays.
PyObject* dtype_object(DataType dtype);

/// Errors: TypeError for what is no dtype, ValueError for a name that no dtype has.
DataType dtype_from(PyObject* value, const Argument& argument);

}  // namespace phi::python
