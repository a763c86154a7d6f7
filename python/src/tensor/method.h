// method() adds a C++ function to the type Tensor as a method, through nanobind. A call costs more
// than one of an operator (op_function.h).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "python/src/tensor/tensor_object.h"

namespace phi::python {

template <typename Function, typename... Extra>
void method(const char* name, Function&& function, const Extra&... extra) {
  const nanobind::handle type(reinterpret_cast<PyObject*>(tensor_type));
  nanobind::cpp_function_def(std::forward<Function>(function), nanobind::scope(type),
                             nanobind::name(name), nanobind::is_method(), extra...);
}

}  // namespace phi::python
