// OpFunction: the Python object that an operator is: autophi.matmul, and Tensor.matmul alike.
#pragma once

#include <Python.h>

#include "python/src/ops/op_table.h"

namespace phi::python {

/// The type, and an object for each operator of the library: functions of the module `ops`, and
/// methods of Tensor where it has nothing of that name.
void make_op_functions(PyObject* ops);

/// An object for an operator, which must stay; joins the module and Tensor. Errors: those of the
/// interpreter.
void add_op_function(PyObject* ops, const OpEntry& entry);

}  // namespace phi::python
