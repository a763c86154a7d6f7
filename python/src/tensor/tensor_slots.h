// The parts of the type Tensor, each defined in a source of its own.
#pragma once

#include <Python.h>

#include <span>

namespace phi::python {

/// x + y, x < y, +=, abs(), float(), bool(): operators.cc.
std::span<const PyType_Slot> operator_slots();
/// x[..], x[..] = y, len(), iteration: indexing.cc.
std::span<const PyType_Slot> indexing_slots();
/// Memory shared with whoever asks for it (NumPy, memoryview): buffer.cc.
std::span<const PyType_Slot> buffer_slots();
/// shape, dtype, grad, ...: tensor_properties.cc. Ends with an empty one.
PyGetSetDef* tensor_properties();

}  // namespace phi::python
