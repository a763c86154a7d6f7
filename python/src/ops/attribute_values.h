// Converts Python values to attributes of operators.
#pragma once

#include <Python.h>

#include "phi/core/attribute_value.h"
#include "python/src/base/convert.h"

namespace phi::python {

/// Converts `value` to an attribute of this kind. Errors: TypeError, which names the argument, for
/// a value of another kind.
AttributeValue attribute_from_python(PyObject* value, const Argument& argument, AttributeKind kind);

}  // namespace phi::python
