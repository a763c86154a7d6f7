// Binds autophi.distributed.Schedule: pipeline schedules, with a simulation of their time and a
// drawing.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_schedules(nanobind::module_& module);

}  // namespace phi::python
