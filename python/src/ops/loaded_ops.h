// Operators of libraries that are loaded at run time, as functions of Python.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

/// load_ops(path); functions join the module `ops`.
void bind_loaded_ops(nanobind::module_& module, nanobind::module_& ops);

}  // namespace phi::python
