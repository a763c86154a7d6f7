// Arrays of NumPy and others in a tensor's memory, and the members of Tensor that give its values.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_arrays(nanobind::module_& module);

}  // namespace phi::python
