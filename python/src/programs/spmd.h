// Binds autophi.spmd: inference by the operators' placement rules.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_spmd(nanobind::module_& module);

}  // namespace phi::python
