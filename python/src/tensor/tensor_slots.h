// The slots of the Python type Tensor, one group per source file.
#pragma once

#include <Python.h>

#include <span>

namespace phi::python {

/// x + y, x < y, +=, abs(), float(), bool(): operators.cc.
std::span<const PyType_Slot> operator_slots();
/// x[..], x[..] = y, len(), iteration: indexing.cc.
std::span<const PyType_Slot> indexing_slots();
/// The buffer protocol, which shares memory with NumPy, memoryview, ..: buffer.cc.
std::span<const PyType_Slot> buffer_slots();
/// shape, dtype, grad, ...: tensor_properties.cc. The last element is empty.
PyGetSetDef* tensor_properties();

}  // namespace phi::python
