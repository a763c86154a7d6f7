// The extension module autophi._jobs: jobs as `autophi run` runs them. It is apart from the
// package's own module, so that only programs that run jobs load what reads them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "tools/job/report_of.h"

NB_MODULE(_jobs, module) {
  module.def("report_of", &phi::job::report_of, nanobind::arg("text"), nanobind::arg("name"),
             nanobind::arg("flags"), nanobind::call_guard<nanobind::gil_scoped_release>(),
             "Runs the job that the text (YAML or JSON) says, and gives its report as JSON.");
}
