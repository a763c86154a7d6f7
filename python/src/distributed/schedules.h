// autophi.distributed.Schedule: pipeline schedules, drawn and timed on paper.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

void bind_schedules(nanobind::module_& module);

}  // namespace phi::python
