// Binds conversions between tensors and NumPy arrays, and members of Tensor that return its values.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_arrays(nanobind::module_& module);

}  // namespace phi::python
