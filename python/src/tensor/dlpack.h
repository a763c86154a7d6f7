// Tensors to and from other libraries by DLPack, without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "api/tensor/tensor.h"

namespace phi::python {

/// A tensor in the array's memory. `copy`: nothing copies where it cannot be shared, true always,
/// false never. Errors: TypeError for what has no __dlpack__; BufferError for other devices and
/// dtypes, and where it would have to copy.
Tensor from_dlpack(nanobind::handle array, std::optional<bool> copy);

/// from_dlpack, and Tensor.__dlpack__ and __dlpack_device__.
void bind_dlpack(nanobind::module_& module);

}  // namespace phi::python
