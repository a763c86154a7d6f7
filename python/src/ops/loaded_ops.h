// Binds load_ops: operators of libraries that are loaded at run time, as Python functions.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

/// Binds load_ops(path), which adds the functions of the library to the module `ops`.
void bind_loaded_ops(nanobind::module_& module, nanobind::module_& ops);

}  // namespace phi::python
