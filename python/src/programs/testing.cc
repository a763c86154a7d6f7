// Binds checks of operators that are Python functions. The functions run on the thread of their
// rank, with the GIL; their exceptions propagate.
#include "python/src/programs/testing.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "api/testing/check_op.h"
#include "python/src/base/convert.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/tensor_object.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// Converts a tensor, or a list or tuple of tensors.
TensorList outputs_in(PyObject* result, const std::string& op) {
  if (is_tensor(result)) return {tensor_of(result)};
  const Argument argument{op.c_str(), "return value of the function"};
  if (!PyList_Check(result) && !PyTuple_Check(result)) {
    refuse(argument, "a Tensor or a list of Tensor", result);
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
  dict["words"] = report.to_string();
  return dict;
}

nb::dict try_op(const std::string& name, nb::callable call, const std::vector<Tensor>& inputs,
                double tolerance, bool partial, bool gradients, bool smooth, size_t placements,
                uint32_t seed) {
  testing::OpCase test{
      .name = name,
      .inputs = inputs,
      .call = [kept = shared_reference(call.ptr()),
               name](const TensorList& in) { return call_with(kept.get(), in, name); },
      .tolerance = tolerance,
      .partial = partial,
      .gradients = gradients,
      .smooth = smooth};
  GilRelease others;
  const testing::OpReport report = testing::try_op(test, {placements, seed});
  others.end();
  return report_of(report);
}

}  // namespace

void bind_testing(nb::module_& module) {
  module.def("try_op", &try_op, nb::arg("name"), nb::arg("call"), nb::arg("inputs"),
             nb::arg("tolerance"), nb::arg("partial"), nb::arg("gradients"), nb::arg("smooth"),
             nb::arg("placements"), nb::arg("seed"));
}

}  // namespace phi::python
