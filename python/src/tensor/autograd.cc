// Binds backward passes, and hooks in Python that run in them.
#include "python/src/tensor/autograd.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/generated/ops/assign.h"
#include "phi/autograd/grad_mode.h"
#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/base/errors.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/method.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// Releases the GIL; hooks in Python acquire it on this thread.
void backward(const Tensor& x, const std::optional<Tensor>& gradients_of, bool retain_graph) {
  const GilRelease others;
  x.backward(gradients_of.value_or(Tensor()), retain_graph);
}

// Calls a Python hook. If it returns None, the gradient is unchanged.
Tensor hooked(PyObject* function, const Tensor& gradient) {
  const nb::gil_scoped_acquire lock;
  const nb::object result = nb::handle(function)(gradient);
  if (result.is_none()) return gradient;
  if (!is_tensor(result.ptr())) {
    refuse({"register_hook", "return value of the hook"}, "Tensor or None", result.ptr());
  }
  return tensor_of(result.ptr());
}

void register_hook(const Tensor& x, nb::callable function) {
  x.register_hook([kept = shared_reference(function.ptr())](const Tensor& gradient) {
    return hooked(kept.get(), gradient);
  });
}

std::vector<Tensor> list_of_tensors(nb::handle value, const char* name) {
  if (is_tensor(value.ptr())) return {tensor_of(value.ptr())};
  std::vector<Tensor> tensors;
  for (nb::handle element : value) {
    if (!is_tensor(element.ptr()))
      refuse({"grad", name}, "a Tensor or a list of Tensor", value.ptr());
    tensors.push_back(tensor_of(element.ptr()));
  }
  return tensors;
}

nb::list gradients_of(nb::handle outputs, nb::handle inputs, nb::handle grad_outputs,
                      bool retain_graph) {
  const std::vector<Tensor> of = list_of_tensors(outputs, "outputs");
  const std::vector<Tensor> by = list_of_tensors(inputs, "inputs");
  const std::vector<Tensor> given = grad_outputs.is_none()
                                        ? std::vector<Tensor>()
                                        : list_of_tensors(grad_outputs, "grad_outputs");
  GilRelease others;
  std::vector<Tensor> gradients = phi::grad(of, by, given, retain_graph);
  others.end();
  return nb::steal<nb::list>(to_python(std::move(gradients)));
}

Tensor call_again(PyObject* function, const std::vector<Tensor>& inputs) {
  const nb::gil_scoped_acquire lock;
  nb::list args = nb::steal<nb::list>(to_python(inputs));
  const nb::object result = nb::handle(function)(*args);
  if (!is_tensor(result.ptr())) {
    refuse({"recompute", "return value of the function"}, "Tensor", result.ptr());
  }
  return tensor_of(result.ptr());
}

Tensor recompute(nb::callable function, nb::args inputs) {
  const std::vector<Tensor> given = list_of_tensors(inputs, "inputs");
  const GilRelease others;
  return phi::recompute(
      [kept = shared_reference(function.ptr())](const std::vector<Tensor>& again) {
        return call_again(kept.get(), again);
      },
      given);
}

bool set_grad_enabled(bool enabled) {
  return std::exchange(autograd::grad_enabled_flag(), enabled);
}

}  // namespace

void bind_autograd(nb::module_& module) {
  method(
      "backward", &backward, nb::arg("grad").none() = nb::none(), nb::arg("retain_graph") = false,
      "Compute the gradients of all leaves of this tensor and accumulate them.\n\n"
      "`grad`: gradient of the objective with respect to this tensor; default 1 for one element.");
  method("register_hook", &register_hook, nb::arg("hook"),
         "Register hook(gradient), which is called with this tensor's gradient in each backward "
         "pass.\n\n"
         "A returned tensor, of the same shape and dtype, replaces the gradient; None keeps it.");
  method("clear_grad", [](Tensor x) { x.clear_grad(); });
  method(
      "detach", [](const Tensor& x) { return x.detach(); },
      "Return the same value without history. It shares the storage.");
  method(
      "clone",
      [](const Tensor& x) {
        const GilRelease others(is_long_work(x));
        return assign(x);
      },
      "Return a copy with its own storage. Gradients flow through it.");
  method(
      "requires_grad_",
      [](nb::object self, bool wanted) {
        tensor_of(self.ptr()).set_requires_grad(wanted);
        return self;
      },
      nb::arg("wanted") = true);
  module.def("grad", &gradients_of, nb::arg("outputs"), nb::arg("inputs"),
             nb::arg("grad_outputs").none() = nb::none(), nb::arg("retain_graph") = false,
             "Return the gradients of outputs with respect to inputs, as a list.\n\n"
             "An entry is None if its input does not affect the outputs. Gradients are not "
             "accumulated in leaves.");
  module.def(
      "recompute", &recompute, nb::arg("function"), nb::arg("inputs"),
      "Return function(*inputs), a tensor, without saving activations for the backward pass.\n\n"
      "The backward pass calls the function again, which draws the same random numbers. In-place "
      "writes\n"
      "of the function happen once: the second call starts from the values before the first, and "
      "its\n"
      "writes are undone.");
  module.def("set_grad_enabled", &set_grad_enabled, nb::arg("enabled"),
             "Set whether operations of this thread are tracked and return the previous value.");
  module.def("is_grad_enabled", [] { return autograd::grad_enabled(); });
}

}  // namespace phi::python
