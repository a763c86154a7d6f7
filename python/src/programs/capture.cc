// Binds captured programs, which autophi.capture wraps.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "api/capture/program.h"
#include "api/stablehlo/stablehlo.h"
#include "python/src/base/convert.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// Calls the Python function. It returns a list of tensors, of which some may be None.
TensorList call_captured(PyObject* function, const TensorList& inputs) {
  const nb::gil_scoped_acquire lock;
  nb::list args = nb::steal<nb::list>(to_python(inputs));
  TensorList outputs;
  for (nb::handle each : nb::handle(function)(args)) {
    if (!each.is_none() && !is_tensor(each.ptr())) {
      refuse({"capture", "return value of the function"}, "tensors", each.ptr());
    }
    outputs.push_back(each.is_none() ? Tensor() : tensor_of(each.ptr()));
  }
  return outputs;
}

Program capture(nb::callable function, const TensorList& inputs) {
  const GilRelease others;
  return phi::capture([kept = shared_reference(function.ptr())](
                          const TensorList& in) { return call_captured(kept.get(), in); },
                      inputs);
}

nb::object run_program(const Program& program, const TensorList& inputs) {
  GilRelease others;
  TensorList outputs = program.run(inputs);
  others.end();
  return nb::steal(to_python(std::move(outputs)));
}

std::string to_stablehlo(const Program& program, const std::string& name,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  const GilRelease others;
  return program.to_stablehlo(StablehloOptions{.name = name, .inputs = inputs, .outputs = outputs});
}

nb::dict swap_stats(const Program& program) {
  const memory::SwapEngineStats stats = program.swap_stats();
  nb::dict dict;
  dict["transfer_seconds"] = stats.transfer_seconds;
  dict["wait_seconds"] = stats.wait_seconds;
  dict["host_peak_bytes"] = stats.peak_bytes[static_cast<size_t>(Tier::kHost)];
  dict["disk_peak_bytes"] = stats.peak_bytes[static_cast<size_t>(Tier::kDisk)];
  return dict;
}

}  // namespace

void bind_capture(nb::module_& module) {
  nb::class_<Program>(module, "Program",
                      "A captured function, recorded by one run that computes nothing.")
      .def("run", &run_program, nb::arg("inputs"),
           "Run the program on tensors of the captured shapes, dtypes and placements.\n\n"
           "Collective over the job. ValueError names an input that differs.")
      .def("limit_memory", &Program::limit_memory, nb::arg("memory"),
           "Limit the program's bytes in each memory tier of this rank. Call it before the first "
           "run.")
      .def("use_graphs", &Program::use_graphs, nb::arg("use"),
           "Enable or disable CUDA graphs for steps without waits.\n\n"
           "Enabled, the default, GPUs launch such steps as CUDA graphs from the second run on. "
           "Disabled,\n"
           "they are launched one by one.")
      .def("to_stablehlo", &to_stablehlo, nb::kw_only(), nb::arg("name") = "program",
           nb::arg("inputs") = std::vector<std::string>(),
           nb::arg("outputs") = std::vector<std::string>(),
           "Return the global program as StableHLO text with Shardy shardings.")
      .def("__str__", [](const Program& self) { return self.to_string(); })
      .def("rank_program", &Program::rank_program,
           "Return this rank's steps as text, one per line.")
      .def_prop_ro("num_steps", &Program::num_steps)
      .def_prop_ro("num_clipped", &Program::num_clipped)
      .def_prop_ro("arena_bytes", &Program::arena_bytes,
                   "Bytes of the arena that the program's own tensors share on this rank.")
      .def("parameters", &Program::parameters,
           "Return tensors that the function uses but did not create, ordered by id (first use).")
      .def("parameter_id", &Program::tensor_parameter_id, nb::arg("tensor"),
           "Return the id of the parameter that shares the tensor's storage; -1 for other tensors.")
      .def("swap_stats", &swap_stats);
  module.def("capture_program", &capture, nb::arg("function"), nb::arg("inputs"),
             "Capture function(list of tensors) -> list of tensors. Nothing is computed.");
}

}  // namespace phi::python
