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
      refuse({"capture", "what the function returns"}, "tensors", each.ptr());
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
                      "What a function does, found by running it once without computing anything.")
      .def("run", &run_program, nb::arg("inputs"),
           "As the function, on tensors of the captured shapes, dtypes and placements. Every rank "
           "of\n"
           "the job runs it. ValueError that names an input that differs.")
      .def("limit_memory", &Program::limit_memory, nb::arg("memory"),
           "What it may hold on each tier of this rank, before its first run.")
      .def("use_graphs", &Program::use_graphs, nb::arg("use"),
           "On GPUs, whether steps that wait for nothing are launched as CUDA graphs from the "
           "second run\n"
           "on (the default), or one by one.")
      .def("to_stablehlo", &to_stablehlo, nb::kw_only(), nb::arg("name") = "program",
           nb::arg("inputs") = std::vector<std::string>(),
           nb::arg("outputs") = std::vector<std::string>(),
           "The global program as StableHLO text with Shardy shardings.")
      .def("__str__", [](const Program& self) { return self.to_string(); })
      .def("rank_program", &Program::rank_program, "What this rank does of it, a step a line.")
      .def_prop_ro("num_steps", &Program::num_steps)
      .def_prop_ro("num_clipped", &Program::num_clipped)
      .def_prop_ro("arena_bytes", &Program::arena_bytes,
                   "Bytes that the program's own tensors share on this rank.")
      .def("parameters", &Program::parameters,
           "Tensors that the function uses and did not make, by id: in the order of first use.")
      .def("parameter_id", &Program::tensor_parameter_id, nb::arg("tensor"),
           "The id of the parameter that has the bytes of the tensor; -1 for any other.")
      .def("swap_stats", &swap_stats);
  module.def("capture_program", &capture, nb::arg("function"), nb::arg("inputs"),
             "function(list of tensors) gives a list of tensors. Nothing is computed.");
}

}  // namespace phi::python
