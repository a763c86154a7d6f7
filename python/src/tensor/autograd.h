// Binds gradients: backward, grad, hooks, and control of tracking.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_autograd(nanobind::module_& module);

}  // namespace phi::python
