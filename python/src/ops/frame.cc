// Converts arguments that are optional tensors or lists.
#include "python/src/ops/frame.h"

#include <fmt/format.h>

#include <string>

namespace phi::python {

std::optional<Tensor> Frame::optional(int i) {
  PyObject* value = values_[i];
  if (value == nullptr || value == Py_None) return std::nullopt;
  if (!is_tensor(value)) refuse(argument(i), "Tensor or None", value);
  return seen(tensor_of(value));
}

std::vector<Tensor> Frame::list(int i) {
  PyObject* value = values_[i];
  std::vector<Tensor> tensors;
  if (value == nullptr || value == Py_None) return tensors;
  if (!PyList_Check(value) && !PyTuple_Check(value)) refuse(argument(i), "a list of Tensor", value);
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
  tensors.reserve(static_cast<size_t>(size));
  for (Py_ssize_t n = 0; n < size; ++n) {
    PyObject* element = PySequence_Fast_GET_ITEM(value, n);
    if (!is_tensor(element)) {
      const std::string name = fmt::format("{}[{}]", argument(i).name, n);
      refuse({op_.name, name.c_str()}, "Tensor", element);
    }
    tensors.push_back(seen(tensor_of(element)));
  }
  return tensors;
}

}  // namespace phi::python
