// Exchanges tensors with other libraries by DLPack, without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "api/tensor/tensor.h"

namespace phi::python {

/// Returns a tensor in the array's memory. `copy`: true always copies, false never; if it is empty,
/// copies only memory that cannot be shared. Errors: TypeError for an object without __dlpack__;
/// BufferError for other devices and dtypes, and if `copy` is false and the memory cannot be
/// shared.
Tensor from_dlpack(nanobind::handle array, std::optional<bool> copy);

/// Binds from_dlpack, Tensor.__dlpack__ and Tensor.__dlpack_device__.
void bind_dlpack(nanobind::module_& module);

}  // namespace phi::python
