// autophi.spmd: the operators' placement rules, asked by name.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_spmd(nanobind::module_& module);

}  // namespace phi::python
