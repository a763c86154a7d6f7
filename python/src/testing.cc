// Functions of Python as what is checked and explained. They run with the interpreter's lock, on
// whatever thread their rank is; what they throw goes through.
#include "python/src/testing.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/explain/explain.h"
#include "api/explain/show.h"
#include "api/testing/check_op.h"
#include "phi/common/errors.h"
#include "python/src/convert.h"
#include "python/src/errors.h"
#include "python/src/keep.h"
#include "python/src/tensor_object.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// ---- check_op ----

// A tensor, or a list or tuple of them.
TensorList outputs_in(PyObject* result, const std::string& op) {
  if (is_tensor(result)) return {tensor_of(result)};
  const Argument argument{op.c_str(), "what the function returns"};
  if (!PyList_Check(result) && !PyTuple_Check(result)) {
    refuse(argument, "a Tensor, or a list of them", result);
  }
  TensorList outputs;
  for (nb::handle output : nb::handle(result)) {
    if (!output.is_none() && !is_tensor(output.ptr())) refuse(argument, "Tensor", output.ptr());
    outputs.push_back(output.is_none() ? Tensor() : tensor_of(output.ptr()));
  }
  return outputs;
}

TensorList call_with(PyObject* function, const TensorList& inputs, const std::string& op) {
  const nb::gil_scoped_acquire lock;
  const nb::list args = nb::steal<nb::list>(to_python(inputs));
  const nb::object result = nb::handle(function)(*args);
  return outputs_in(result.ptr(), op);
}

nb::dict report_of(const testing::OpReport& report) {
  nb::dict dict;
  dict["calls"] = report.calls;
  dict["gradient_calls"] = report.gradient_calls;
  dict["differences"] = report.differences;
  dict["failures"] = report.failures;
  return dict;
}

nb::dict try_op(const std::string& name, nb::callable call, const std::vector<Tensor>& inputs,
                double tolerance, bool partial, bool gradients, bool smooth, size_t placements,
                uint32_t seed) {
  testing::OpCase test{
      .name = name,
      .inputs = inputs,
      .call = [kept = keep(call.ptr()),
               name](const TensorList& in) { return call_with(kept.get(), in, name); },
      .tolerance = tolerance,
      .partial = partial,
      .gradients = gradients,
      .smooth = smooth};
  WithoutGil others;
  const testing::OpReport report = testing::try_op(test, {placements, seed});
  others.end();
  return report_of(report);
}

// ---- explain ----

std::function<void()> without_result(nb::callable function) {
  return [kept = keep(function.ptr())] {
    const nb::gil_scoped_acquire lock;
    nb::handle(kept.get())();
  };
}

Explanation explain(nb::callable function, const TensorNames& names) {
  const WithoutGil others;
  return phi::explain(without_result(std::move(function)), names);
}

// More moved than said is a failed assertion; what the function itself throws stays as it is.
void expect_moves(nb::callable function, std::optional<int64_t> bytes_at_most,
                  std::optional<int64_t> reshards_at_most, const TensorNames& names) {
  bool has_run = false;
  WithoutGil others;
  try {
    phi::expect_moves(
        [&, run = without_result(std::move(function))] {
          run();
          has_run = true;
        },
        {bytes_at_most, reshards_at_most}, names);
  } catch (const Error& error) {
    if (!has_run || error.code() != ErrorCode::kPreconditionNotMet) throw;
    others.end();
    raise(PyExc_AssertionError, error.what());
  }
}

void bind_explanation(nb::module_& module) {
  nb::class_<Explanation>(module, "Explanation",
                          "What calls did on one rank: placements, moves, and why.")
      .def_ro("rank", &Explanation::rank)
      .def_ro("world_size", &Explanation::world_size)
      .def_prop_ro("num_calls", [](const Explanation& e) { return e.calls.size(); })
      .def_prop_ro("num_moves", &Explanation::num_moves,
                   "Reshards that sent, received, or cut and copied here.")
      .def_prop_ro("bytes_sent", [](const Explanation& e) { return e.moved().sent; })
      .def_prop_ro("bytes_received", [](const Explanation& e) { return e.moved().received; })
      .def("worst_moves", &Explanation::worst_moves, nb::arg("count") = 5,
           "The moves of most bytes, a text each.")
      .def("to_json", &Explanation::to_json, "All of it, as the command's --explain=FILE has it.")
      .def("__str__", &Explanation::to_string)
      .def("__repr__", &Explanation::to_string);
}

}  // namespace

void bind_testing(nb::module_& module) {
  bind_explanation(module);
  module.def("try_op", &try_op, nb::arg("name"), nb::arg("call"), nb::arg("inputs"),
             nb::arg("tolerance"), nb::arg("partial"), nb::arg("gradients"), nb::arg("smooth"),
             nb::arg("placements"), nb::arg("seed"));
  module.def("explain", &explain, nb::arg("function"), nb::arg("names"),
             "Calls function() once and tells what its calls did on this rank, and why.");
  module.def("expect_moves", &expect_moves, nb::arg("function"), nb::arg("bytes_at_most").none(),
             nb::arg("reshards_at_most").none(), nb::arg("names"));
  module.def(
      "show", [](const Tensor& x) { return show(x, false); }, nb::arg("x"));
}

}  // namespace phi::python
