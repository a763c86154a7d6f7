// Values of Python as tensors, and back.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include "api/tensor/tensor.h"

namespace phi::python {

/// A tensor of a copy of the values: numbers, nested lists of them, or an array (of any strides and
/// byte order). `dtype`: None for what the values have; numbers with a fraction are float32.
/// Errors: ValueError for lists of different lengths and for numbers that the dtype has not;
/// TypeError for what is no number.
Tensor tensor_from(PyObject* data, PyObject* dtype);

/// Whether it is an array of another library: what has memory to lend by the buffer protocol or by
/// DLPack, or makes an array of NumPy of itself. Numbers of NumPy are arrays too.
bool is_array(PyObject* value);

/// The tensor's value as a plain tensor: itself, or of a distributed one what lies here, if that is
/// the whole value (parts_are_whole). Errors: InvalidArgument, naming what was to be done,
/// otherwise.
Tensor whole_here(const Tensor& x, const char* what);

/// Nested lists of numbers; one number for a 0-D tensor.
PyObject* list_of(const Tensor& x);
/// The only element. Errors: InvalidArgument if there are more.
PyObject* item_of(const Tensor& x);

void bind_values(nanobind::module_& module);

}  // namespace phi::python
