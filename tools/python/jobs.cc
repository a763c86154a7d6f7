// The extension module autophi._jobs: runs jobs like `autophi run`. It is separate from the
// package's main module, so that only programs that run jobs load its dependencies.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tools/job/report_of.h"

namespace nb = nanobind;

namespace {

using phi::job::ProgressSink;
using Style = phi::training::Progress::Style;

// Wraps a callable that accepts text. The job runs without the GIL, and it ends before the callable
// is released.
std::optional<ProgressSink> shown_by(nb::object write, bool as_bar) {
  if (write.is_none()) return std::nullopt;
  return ProgressSink{as_bar ? Style::kBar : Style::kLines,
                      [function = write.ptr()](const std::string& text) {
                        const nb::gil_scoped_acquire lock;
                        const nb::handle show(function);
                        show(text);
                      }};
}

std::string report_of(const std::string& text, const std::string& name,
                      const std::map<std::string, std::string>& flags, nb::object write,
                      bool as_bar) {
  const auto progress = shown_by(write, as_bar);
  const nb::gil_scoped_release others;
  return phi::job::report_of(text, name, flags, progress);
}

}  // namespace

NB_MODULE(_jobs, module) {
  module.def("report_of", &report_of, nb::arg("text"), nb::arg("name"), nb::arg("flags"),
             nb::arg("write").none(), nb::arg("as_bar"),
             "Runs the job described by the text (YAML or JSON), and returns its report as JSON. "
             "`write`, if\nit is not None, is called with the progress text, a bar or lines.");
}
