// Binds autophi.testing: checks of operators, and of the bytes that programs move.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_testing(nanobind::module_& module);

}  // namespace phi::python
