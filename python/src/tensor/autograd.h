// Gradients in Python: backward, grad, hooks, and whether operations are tracked.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_autograd(nanobind::module_& module);

}  // namespace phi::python
