// OpFunction: the Python object of an operator, such as autophi.matmul and Tensor.matmul.
#pragma once

#include <Python.h>

#include "python/src/ops/op_table.h"

namespace phi::python {

/// Makes the type and an object for each operator of the library. Adds the objects to the module
/// `ops` and, as methods, to Tensor, unless Tensor has an attribute of that name.
void make_op_functions(PyObject* ops);

/// Makes an object for an operator and adds it to the module and to Tensor. `entry` must outlive
/// the process. Errors: those of the interpreter.
void add_op_function(PyObject* ops, const OpEntry& entry);

}  // namespace phi::python
