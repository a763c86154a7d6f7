// Dtypes in Python: autophi.float32 and the others, one object each. A name ("float32"), a Python
// type (float, int, bool, complex) and a dtype of NumPy or ml_dtypes are accepted as dtypes too.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include "phi/common/dtype.h"
#include "python/src/base/convert.h"

namespace phi::python {

/// Adds the type autophi.dtype and its objects to the module.
void make_dtypes(nanobind::module_& module);

/// The dtype's object: a borrowed reference that is valid until the process ends.
PyObject* dtype_object(DataType dtype);

/// Converts `value` to a dtype. Errors: TypeError for a value that is not a dtype, ValueError for
/// an unknown name.
DataType dtype_from(PyObject* value, const Argument& argument);

}  // namespace phi::python
