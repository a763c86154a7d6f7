// Tensors to and from other libraries by DLPack, without a copy.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

/// from_dlpack, and Tensor.__dlpack__ and __dlpack_device__.
void bind_dlpack(nanobind::module_& module);

}  // namespace phi::python
