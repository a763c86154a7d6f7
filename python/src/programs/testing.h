// autophi.testing: checks of operators and of what programs move.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_testing(nanobind::module_& module);

}  // namespace phi::python
