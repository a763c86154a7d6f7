// Attributes of operators as values of Python, by the kind that the operator's table says.
#pragma once

#include <Python.h>

#include "phi/core/attribute_value.h"
#include "python/src/base/convert.h"

namespace phi::python {

/// Errors: TypeError, naming the argument, for a value of another kind.
AttributeValue attribute_from_python(PyObject* value, const Argument& argument, AttributeKind kind);

}  // namespace phi::python
